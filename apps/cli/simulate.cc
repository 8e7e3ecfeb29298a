// parley simulate CHARTER
#include "parley/report/simulate.h"

#include <map>

#include "commands.h"
#include "overrides.h"
#include "parley/sim/load.h"
#include "studies.h"

namespace parley::cli {
namespace {

using Policies = std::map<std::string, charter::Policy>;

Result<Policies> read_policies(const std::vector<std::filesystem::path>& files) {
  Policies policies;
  for (const auto& file : files) {
    charter::Policy policy = TRY(charter::read_policy(file));
    const std::string owner = policy.owner;
    policies.emplace(owner, std::move(policy));
  }
  return policies;
}

/// --data as typed, one folder or OWNER=FILE for each owner; what it does not give comes from the
/// owners' policies.
Result<sim::DataSources> sources(const SimulateOptions& options, const charter::Charter& charter,
                                 const Policies& policies) {
  if (options.data.empty() && policies.empty())
    return Error{Code::kInvalid, "no data given",
                 "Add --data DIR, --data OWNER=FILE or --policy FILE for each owner, --split FILE, "
                 "or --standin NAME."};
  if (options.data.size() == 1 && std::filesystem::is_directory(options.data[0]))
    return sim::files_in(options.data[0], charter, options.signs);
  sim::DataSources sources{.owners = {}, .public_folders = {charter.folder}};
  for (const std::string& text : options.data) {
    const Pair pair = TRY(split_pair(text, "--data"));
    sources.owners[pair.key] = sim::owner_file(pair.value, charter, pair.key, options.signs);
    sources.public_folders.push_back(std::filesystem::path(pair.value).parent_path());
  }
  for (const auto& [owner, policy] : policies) {
    if (sources.owners.contains(owner)) continue;
    const charter::Dataset* data = TRY(policy.dataset_for(charter));
    sources.owners[owner] = TRY(charter::source_of(policy, *data, charter));
    sources.public_folders.push_back(policy.folder);
  }
  return sources;
}

/// Where results go, and rows that memory has no room for.
std::filesystem::path out_folder(const SimulateOptions& options) {
  return options.out.value_or("runs/" + std::to_string(options.seed));
}

/// A simulation leaves the owners' own folders alone.
void limit_memory(sim::DataSources& sources, const SimulateOptions& options) {
  for (auto& [owner, source] : sources.owners) {
    if (options.memory_mb) source.select.memory = data::memory_for_rows(*options.memory_mb, {});
    source.select.memory.folder = out_folder(options);
  }
}

Result<sim::SimulateInput> load(const SimulateOptions& options) {
  const charter::Charter charter =
      TRY(charter::read_charter(options.charter, TRY(overrides(options.set))));
  Policies policies = TRY(read_policies(options.policies));
  const auto input = [&]() -> Result<sim::SimulateInput> {
    if (!options.standin.empty())
      return sim::load_standin(charter, options.standin, options.standin_seed);
    sim::DataSources found =
        options.split.empty()
            ? TRY(sources(options, charter, policies))
            : sim::split_file(charter, options.split, options.split_by, options.signs);
    found.pilot_signs = options.signs;
    limit_memory(found, options);
    return sim::load_sources(charter, found);
  };
  sim::SimulateInput loaded = TRY(input());
  loaded.policies = std::move(policies);
  return loaded;
}

}  // namespace

Result<Output> run(const SimulateOptions& options, ProgressStyle style) {
  const sim::SimulateInput input = TRY(load(options));
  const auto asked =
      static_cast<uint64_t>(input.charter.answers()) + (input.charter.privacy.evaluate > 0 ? 1 : 0);
  const uint64_t answers = asked * input.owners.size();
  Progress progress(style, "training", answers * options.runs);
  const auto result =
      TRY(sim::simulate(input,
                        {.seed = options.seed,
                         .runs = options.runs,
                         .threads = threads_or_all(options.threads),
                         .baseline = options.baseline,
                         .out = out_folder(options),
                         .progress = [&](uint64_t done) { progress.advance(done); }},
                        literal()));
  progress.finish();
  return Output{report::to_text(result), report::to_json(result)};
}

}  // namespace parley::cli
