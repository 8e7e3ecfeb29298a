// parley simulate CHARTER
#include "parley/api/simulate.h"

#include <optional>
#include <utility>

#include "commands.h"
#include "overrides.h"
#include "studies.h"

namespace parley::cli {
namespace {

/// --data as typed, one folder or OWNER=FILE for each owner; what it does not give comes from the
/// owners' policies.
Result<DataSource> data_of(const SimulateOptions& options) {
  if (!options.standin.empty())
    return DataSource(GeneratedData{options.standin, options.standin_seed});
  if (!options.split.empty())
    return DataSource(SplitFile{options.split, options.split_by, options.signs});
  if (options.data.empty() && options.policies.empty())
    return Error{Code::kInvalid, "no data given",
                 "Add --data DIR, --data OWNER=FILE or --policy FILE for each owner, --split FILE, "
                 "or --standin NAME."};
  if (options.data.size() == 1 && std::filesystem::is_directory(options.data[0]))
    return DataSource(OwnerFolder{options.data[0], options.signs});
  OwnerFiles files{.files = {}, .signs = options.signs};
  for (const std::string& text : options.data) {
    const Pair pair = TRY(split_pair(text, "--data"));
    files.files[pair.key] = pair.value;
  }
  return DataSource(std::move(files));
}

}  // namespace

Result<Output> run(const SimulateOptions& options, ProgressStyle style) {
  const Charter charter = TRY(Charter::read(options.charter, TRY(overrides(options.set))));
  std::optional<Progress> progress;
  uint64_t shown = 0;
  parley::SimulateOptions how{.seed = options.seed,
                              .runs = options.runs,
                              .baseline = options.baseline,
                              .out = options.out.value_or("runs/" + std::to_string(options.seed)),
                              .memory_mb = options.memory_mb,
                              .threads = options.threads,
                              .progress = [&](uint64_t done, uint64_t total) {
                                if (!progress) progress.emplace(style, "training", total);
                                progress->advance(done - std::exchange(shown, done));
                              }};
  for (const auto& file : options.policies) how.policies.push_back(TRY(Policy::read(file)));
  const Simulation result = TRY(api::simulate(charter, TRY(data_of(options)), how, literal()));
  if (progress) progress->finish();
  return Output{result.to_text(), result.to_json()};
}

}  // namespace parley::cli
