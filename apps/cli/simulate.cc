// parley simulate CHARTER
#include "parley/report/simulate.h"

#include <thread>

#include "commands.h"
#include "overrides.h"
#include "parley/sim/load.h"

namespace parley::cli {
namespace {

/// --data as typed: one folder, or OWNER=FILE for each owner.
Result<sim::DataFiles> data_files(const std::vector<std::string>& data,
                                  const charter::Charter& charter) {
  if (data.empty())
    return Error{Code::kInvalid, "no data given",
                 "Add --data DIR, --data OWNER=FILE for each owner, or --standin NAME."};
  if (data.size() == 1 && std::filesystem::is_directory(data[0]))
    return sim::files_in(data[0], charter);
  sim::DataFiles files{.owners = {}, .public_folders = {charter.folder}};
  for (const std::string& text : data) {
    const Pair pair = TRY(split_pair(text, "--data"));
    files.owners[pair.key] = pair.value;
    files.public_folders.push_back(std::filesystem::path(pair.value).parent_path());
  }
  return files;
}

Result<sim::SimulateInput> load(const SimulateOptions& options) {
  const charter::Charter charter =
      TRY(charter::read_charter(options.charter, TRY(overrides(options.set))));
  sim::SimulateInput input =
      options.standin.empty()
          ? TRY(sim::load_files(charter, TRY(data_files(options.data, charter))))
          : TRY(sim::load_standin(charter, options.standin, options.standin_seed));
  for (const auto& file : options.policies) {
    charter::Policy policy = TRY(charter::read_policy(file));
    const std::string owner = policy.owner;
    input.policies.emplace(owner, std::move(policy));
  }
  return input;
}

}  // namespace

Result<Output> run(const SimulateOptions& options, ProgressStyle style) {
  const sim::SimulateInput input = TRY(load(options));
  const uint64_t answers = static_cast<uint64_t>(input.charter.answers()) * input.owners.size();
  Progress progress(style, "training", answers * options.runs);
  const int threads = static_cast<int>(std::thread::hardware_concurrency());
  const auto result = TRY(
      sim::simulate(input, {.seed = options.seed,
                            .runs = options.runs,
                            .threads = options.threads > 0 ? options.threads : std::max(threads, 1),
                            .out = options.out.value_or("runs/" + std::to_string(options.seed)),
                            .progress = [&](uint64_t done) { progress.advance(done); }}));
  progress.finish();
  return Output{report::to_text(result), report::to_json(result)};
}

}  // namespace parley::cli
