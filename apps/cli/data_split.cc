// parley data split FILE --owners a,b,c
#include "commands.h"
#include "parley/base/files.h"
#include "parley/data/readers/csv_split.h"
#include "parley/report/data/generate.h"

namespace parley::cli {
namespace {

Result<std::vector<data::CsvPart>> parts_of(const DataSplitOptions& options) {
  if (!options.shares.empty() && options.shares.size() != options.owners.size())
    return Error{Code::kInvalid, "--shares needs one number per owner",
                 "For example --owners a,b,c --shares 2,1,1."};
  std::vector<data::CsvPart> parts;
  for (size_t i = 0; i < options.owners.size(); ++i) {
    const std::string& owner = options.owners[i];
    const auto file = options.out / (owner + ".csv");
    if (owner.empty() || owner.find('/') != std::string::npos)
      return Error{Code::kInvalid, "--owners: a name, not a path", "For example --owners a,b,c."};
    for (const data::CsvPart& part : parts)
      if (part.file == file)
        return Error{Code::kInvalid, "--owners names " + owner + " twice",
                     "Give every owner a name of its own."};
    parts.push_back({.file = file, .share = options.shares.empty() ? 1 : options.shares[i]});
  }
  return parts;
}

}  // namespace

Result<Output> run(const DataSplitOptions& options, ProgressStyle) {
  const auto parts = TRY(parts_of(options));
  const data::CsvSplit split{
      .separator = options.signs.separator, .by = options.by, .random_seed = options.random};
  TRY(make_directories(options.out));
  std::vector<report::GeneratedFile> written;
  const auto split_parts = TRY(data::split_csv(options.file, split, parts));
  for (const data::CsvPart& part : split_parts) {
    const Hash hash = TRY(hash_file(part.file));
    written.push_back({part.file.string(), part.rows, hash});
  }
  return Output{report::to_text(written), report::to_json(written)};
}

}  // namespace parley::cli
