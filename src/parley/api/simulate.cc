#include "parley/api/simulate.h"

#include <cmath>
#include <map>
#include <type_traits>
#include <utility>

#include "parley/api/internal.h"
#include "parley/forecast/owners/tau.h"
#include "parley/report/simulate.h"
#include "parley/sim/load.h"
#include "parley/sim/simulate.h"

namespace parley {

struct Simulation::Internal {
  sim::SimulateResult result;
};

namespace {

using Policies = std::map<std::string, charter::Policy>;

Policies policies_of(const SimulateOptions& options) {
  Policies policies;
  for (const Policy& each : options.policies)
    policies.emplace(each.owner(), each.internal().policy);
  return policies;
}

sim::DataSources sources_of(const OwnerTables& data, const charter::Charter& charter) {
  sim::DataSources sources{.owners = {}, .public_folders = {charter.folder}};
  for (const auto& [owner, table] : data.tables)
    sources.owners[owner] = sim::owner_source(data::source_of(table), charter, owner);
  return sources;
}

sim::DataSources sources_of(const api::OwnerCells& data, const charter::Charter& charter) {
  sim::DataSources sources{.owners = {}, .public_folders = {charter.folder}};
  for (const auto& [owner, cells] : data.tables)
    sources.owners[owner] = sim::owner_source(data::source_of(cells), charter, owner);
  return sources;
}

sim::DataSources sources_of(const OwnerFiles& data, const charter::Charter& charter) {
  sim::DataSources sources{
      .owners = {}, .public_folders = {charter.folder}, .pilot_signs = data.signs};
  for (const auto& [owner, file] : data.files) {
    sources.owners[owner] = sim::owner_file(file, charter, owner, data.signs);
    sources.public_folders.push_back(file.parent_path());
  }
  return sources;
}

sim::DataSources sources_of(const OwnerFolder& data, const charter::Charter& charter) {
  sim::DataSources sources = sim::files_in(data.folder, charter, data.signs);
  sources.pilot_signs = data.signs;
  return sources;
}

sim::DataSources sources_of(const SplitFile& data, const charter::Charter& charter) {
  sim::DataSources sources = sim::split_file(charter, data.file, data.by, data.signs);
  sources.pilot_signs = data.signs;
  return sources;
}

/// What is not given comes from the owners' policies.
Result<void> add_policies(const Policies& policies, const charter::Charter& charter,
                          sim::DataSources& sources) {
  for (const auto& [owner, policy] : policies) {
    if (sources.owners.contains(owner)) continue;
    const charter::Dataset* data = TRY(policy.dataset_for(charter));
    sources.owners[owner] = TRY(charter::source_of(policy, *data, charter));
    sources.public_folders.push_back(policy.folder);
  }
  return {};
}

/// A simulation leaves the owners' own folders alone.
void limit_memory(const SimulateOptions& options, sim::DataSources& sources) {
  for (auto& [owner, source] : sources.owners) {
    if (options.memory_mb) source.select.memory = data::memory_for_rows(*options.memory_mb, {});
    std::error_code ignored;
    source.select.memory.folder =
        options.out.empty() ? std::filesystem::temp_directory_path(ignored) : options.out;
  }
}

using AnyData =
    std::variant<GeneratedData, OwnerTables, OwnerFiles, OwnerFolder, SplitFile, api::OwnerCells>;

/// Of the files, where there are any.
data::CsvSigns signs_of(const AnyData& data) {
  return std::visit(
      [](const auto& given) {
        if constexpr (requires { given.signs; })
          return given.signs;
        else
          return data::CsvSigns();
      },
      data);
}

Result<sim::SimulateInput> load(const charter::Charter& charter, const AnyData& data,
                                const SimulateOptions& options) {
  Policies policies = policies_of(options);
  const auto read = [&](const auto& given) -> Result<sim::SimulateInput> {
    if constexpr (std::is_same_v<decltype(given), const GeneratedData&>) {
      return sim::load_standin(charter, given.name, given.seed);
    } else {
      sim::DataSources sources = sources_of(given, charter);
      TRY(add_policies(policies, charter, sources));
      limit_memory(options, sources);
      return sim::load_sources(charter, sources);
    }
  };
  sim::SimulateInput input = TRY(std::visit(read, data));
  if (!options.judge_on.empty()) TRY(sim::load_fresh(input, options.judge_on, signs_of(data)));
  input.policies = std::move(policies);
  return input;
}

/// Of each owner; none where some are sparse.
std::vector<std::shared_ptr<const data::Rows>> dense_rows(const sim::SimulateInput& input) {
  std::vector<std::shared_ptr<const data::Rows>> found;
  for (const sim::OwnerData& owner : input.owners)
    if (const auto* rows = std::get_if<0>(&owner.rows)) found.push_back(*rows);
  if (found.size() < input.owners.size()) found.clear();
  return found;
}

/// What the number says, beside what it would say without noise and what the rows say themselves.
Result<sim::SimulateResult::Bought> bought(const sim::SimulateInput& input,
                                           const std::vector<learn::Distance>& distances,
                                           int threads) {
  const auto taus = forecast::paid_taus(input.charter, distances, input.pilot, threads);
  const MetricRange first = forecast::tau_range(taus.front());
  sim::SimulateResult::Bought found{.tau = first.mean, .low = first.low, .high = first.high};
  const auto runs = static_cast<double>(taus.size());
  double squares = 0;
  for (const forecast::Tau& tau : taus) found.mean += tau.value() / runs;
  for (const forecast::Tau& tau : taus) squares += std::pow(tau.value() - found.mean, 2);
  found.deviation = taus.size() > 1 ? std::sqrt(squares / (runs - 1)) : 0;
  std::vector<data::AnyRows> rows;
  for (const sim::OwnerData& owner : input.owners) rows.push_back(owner.rows);
  found.noiseless = TRY(forecast::noiseless_tau(input.charter, rows, input.pilot, threads));
  const double tau[] = {found.noiseless};
  const auto stated = TRY(forecast::forecast_distance(input.charter, input.pilot, tau, threads));
  found.noiseless_low = stated.points[0].low, found.noiseless_high = stated.points[0].high;
  const auto dense = dense_rows(input);
  if (!dense.empty()) found.exact = forecast::exact_tau(input.charter, dense, input.pilot, threads);
  return found;
}

Result<Simulation> simulate_any(const Charter& handle, const AnyData& data,
                                const SimulateOptions& options, const sim::Literal* paper) {
  if (options.held_out && !options.judge_on.empty())
    return Error{Code::kInvalid, "rows to judge by are given, so none need be held out",
                 "Leave out either the part or the folder."};
  if (options.held_out && !(*options.held_out >= 0 && *options.held_out <= .5))
    return Error{Code::kInvalid, "the part that is held out must lie between 0 and 0.5",
                 "For example 0.2, or 0 for no figures on owners' own rows."};
  const sim::SimulateInput input = TRY(load(handle.internal().charter, data, options));
  const charter::Charter& charter = input.charter;
  const auto asked =
      static_cast<uint64_t>(charter.answers()) + (charter.privacy.evaluate > 0 ? 1 : 0);
  const uint64_t total = asked * input.owners.size() * options.runs;
  uint64_t done = 0, judged = 0;
  auto result = TRY(sim::simulate(input,
                                  {.seed = options.seed,
                                   .runs = options.runs,
                                   .threads = api::threads_or_all(options.threads),
                                   .baseline = options.baseline,
                                   .continue_after_alarm = options.continue_after_alarm,
                                   .held_out = options.held_out,
                                   .log_loss = options.log_loss,
                                   .worth = options.worth,
                                   .out = options.out,
                                   .progress =
                                       [&](uint64_t answers) {
                                         done += answers;
                                         if (options.progress) options.progress(done, total);
                                       },
                                   .judged =
                                       [&] {
                                         ++judged;
                                         if (options.judging)
                                           options.judging(judged, input.owners.size());
                                       }},
                                  paper));
  if (!result.quality.distances.empty())
    result.bought =
        TRY(bought(input, result.quality.distances, api::threads_or_all(options.threads)));
  return Simulation(
      std::make_shared<const Simulation::Internal>(Simulation::Internal{std::move(result)}));
}

}  // namespace

Result<Simulation> api::simulate(const Charter& charter, const DataSource& data,
                                 const SimulateOptions& options, const sim::Literal* paper) {
  return std::visit([&](const auto& given) { return simulate_any(charter, given, options, paper); },
                    data);
}

Result<Simulation> api::simulate(const Charter& charter, const OwnerCells& data,
                                 const SimulateOptions& options) {
  return simulate_any(charter, data, options, nullptr);
}

Result<Simulation> simulate(const Charter& charter, const DataSource& data,
                            const SimulateOptions& options) {
  return api::simulate(charter, data, options, nullptr);
}

Simulation::Simulation(std::shared_ptr<const Internal> internal) : internal_(std::move(internal)) {}
const std::vector<SimulatedOwner>& Simulation::owners() const { return internal().result.owners; }
const Spread& Simulation::relative_fitness() const {
  return internal().result.quality.relative_fitness;
}
const Spread& Simulation::fitness() const { return internal().result.quality.fitness; }
const std::vector<Spread>& Simulation::by_round() const {
  return internal().result.quality.by_round;
}
const std::vector<Metric>& Simulation::metrics() const {
  return internal().result.quality.joint_metrics;
}
const std::vector<Metric>& Simulation::best_metrics() const {
  return internal().result.quality.optimum_metrics;
}
const std::optional<Evaluation>& Simulation::evaluation() const {
  return internal().result.quality.evaluation;
}
const std::optional<PilotCheck>& Simulation::pilot_check() const {
  return internal().result.quality.pilot;
}
const std::vector<std::string>& Simulation::warnings() const { return internal().result.warnings; }
const std::vector<std::string>& Simulation::why_not_private() const {
  return internal().result.why_not_private;
}
const std::filesystem::path& Simulation::model_file() const { return internal().result.model; }

Result<Model> Simulation::model() const {
  if (model_file().empty())
    return Error{Code::kInvalid, "the simulation has written no model", "Give it a folder: out."};
  return Model::read(model_file());
}

std::string Simulation::to_text() const { return report::to_text(internal().result); }
std::string Simulation::to_json() const { return report::to_json(internal().result); }

}  // namespace parley
