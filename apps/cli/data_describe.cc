// parley data describe FILE...
#include "commands.h"
#include "parley/report/describe.h"

namespace parley::cli {

Result<Output> run(const DataDescribeOptions& options, ProgressStyle) {
  std::vector<report::DescribedFile> files;
  for (const auto& file : options.files) {
    auto profile = TRY(learn::profile_csv(file));
    files.push_back({file.string(), std::move(profile)});
  }
  return Output{report::to_text(files), report::to_json(files)};
}

}  // namespace parley::cli
