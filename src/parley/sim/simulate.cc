#include "parley/sim/simulate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "parley/base/files.h"
#include "parley/learn/federated/shrink.h"
#include "parley/plan/can_run.h"
#include "parley/plan/learner/warnings.h"
#include "parley/plan/secagg_terms.h"
#include "parley/protocol/make_owner.h"
#include "parley/protocol/trained_model.h"
#include "parley/sim/columns.h"
#include "parley/sim/engine/party.h"
#include "parley/sim/held_out.h"
#include "parley/sim/literal.h"
#include "parley/sim/outcome.h"
#include "parley/sim/output_perturbation.h"
#include "parley/sim/owners/gossip.h"
#include "parley/sim/owners/owner_learner.h"

namespace parley::sim {
namespace {

using charter::Charter;

void add(learn::Fitness& fitness, const data::AnyRows& rows) {
  std::visit([&](const auto& kind) { fitness.add(*kind); }, rows);
}

Result<Reference> reference_of(const SimulateInput& input, int threads) {
  const charter::Model& model = input.charter.model;
  Reference reference{learn::Fitness(charter::loss_of(model),
                                     input.charter.schema.features().size(), model.l2, threads)};
  for (const OwnerData& owner : input.owners) add(reference.pooled, owner.rows);
  reference.optimum = reference.pooled.minimum(model.box);
  if (!(reference.optimum.fitness > 0))
    return Error{Code::kInvalid,
                 "the data is fitted without error, so relative fitness means nothing",
                 "Is the target among the features?"};
  return reference;
}

/// Of the owners that answer.
size_t first_asked(const Charter& charter) {
  return charter.owners.size() > 1 && charter.learns_from_others(charter.owners[0].name) ? 1 : 0;
}

Result<void> check_input(const SimulateInput& input) {
  check(input.owners.size() == input.charter.owners.size());
  check(!input.charter.preprocess || input.charter.schema.bundle);
  const size_t features = input.charter.schema.features().size();
  for (size_t i = 0; i < input.owners.size(); ++i)
    if (data::columns_of(input.owners[i].rows) != features ||
        data::size_of(input.owners[i].rows) == 0)
      return Error{Code::kInvalid,
                   input.charter.owners[i].name + " has no rows that fit the charter"};
  return {};
}

Result<RunOutcome> run_protocol(const SimulateInput& input, const SimulateOptions& options,
                                const Reference& reference, uint64_t run) {
  if (learns_apart(input.charter)) return simulate_owner_learner(input, options, reference, run);
  if (!input.charter.protocol.learners.graph.empty())
    return simulate_gossip(input, options, reference, run);
  return run_with_learner(input, options, reference, run);
}

Error not_in_the_library() {
  return {Code::kInvalid,
          "calibration \"paper\" is not in the library, which trains with privacy only",
          "The program `parley` has it, unless it was built with PARLEY_STUDIES=OFF.",
          {.key = "privacy.calibration"}};
}

/// The joint model of a run that leaves nothing behind and is none of those that are reported.
Result<std::vector<double>> train_once(const SimulateInput& input, SimulateOptions options) {
  options.out.clear();
  options.progress = [](uint64_t) {};
  const Reference reference = TRY(reference_of(input, options.threads));
  return TRY(run_protocol(input, options, reference, options.runs)).model;
}

Result<Spread> baseline(const SimulateInput& input, const SimulateOptions& options,
                        const Reference& reference) {
  const auto perturbed = TRY(OutputPerturbation::make(input));
  std::vector<double> relative;
  for (size_t run = 0; run < options.runs; ++run)
    relative.push_back(reference.relative_at(perturbed.run(options.seed, run)));
  return spread_of(std::move(relative));
}

/// On all rows, of the best model of these.
double fitness_of(const Charter& charter, const data::AnyRows& rows, const Reference& reference,
                  int threads) {
  learn::Fitness own(charter::loss_of(charter.model), data::columns_of(rows), charter.model.l2,
                     threads);
  add(own, rows);
  return reference.pooled.at(own.minimum(charter.model.box).theta);
}

/// How the model would be judged on all owners' rows.
std::vector<learn::Metric> pooled_metrics(const SimulateInput& input,
                                          const std::vector<double>& theta) {
  const data::Target& target = input.charter.schema.target;
  const learn::Model model{.theta = theta, .schema = input.charter.schema};
  std::vector<double> predicted, labels;
  for (const OwnerData& owner : input.owners) {
    std::visit(
        [&](const auto& rows) {
          const std::vector<double> values = learn::predict(model, *rows);
          predicted.insert(predicted.end(), values.begin(), values.end());
          for (size_t i = 0; i < rows->size(); ++i)
            labels.push_back(target.center + target.scale * rows->label(i));
          rows->release(0, rows->size());
        },
        owner.rows);
  }
  return metrics_of(input.charter, predicted, labels);
}

bool is_literal(const Charter& charter) {
  return charter.privacy.calibration == charter::Calibration::kPaper;
}

/// Owners hold records. What cannot run is refused here.
Result<Simulation> simulation_of_rows(const SimulateInput& input, const SimulateOptions& options,
                                      const Literal* paper) {
  const Charter& charter = input.charter;
  // Local steps, the one protocol without a rule: as printed they need no secure sums.
  const bool printed = is_literal(charter) && !charter.protocol.rule();
  if (!is_literal(charter) || (charter.secure_aggregation && !printed))
    TRY(plan::can_run(charter, first_asked(charter)));
  TRY(check_input(input));
  std::vector<std::string> warnings;
  if (!is_literal(charter)) warnings = TRY(plan::plan_warnings(charter, input.pilot.get()));
  Simulation simulation{
      .reference = TRY(reference_of(input, options.threads)),
      .run = [&](const Reference& reference,
                 uint64_t run) { return run_protocol(input, options, reference, run); },
      .alone =
          [&](const Reference& reference, size_t owner) {
            return fitness_of(input.charter, input.owners[owner].rows, reference, options.threads);
          },
      .metrics = [&](const std::vector<double>& theta) { return pooled_metrics(input, theta); },
      .why_not_private = {"simulation: the noise can be replayed from its seed",
                          "fitness was measured on private rows"},
      .warnings = std::move(warnings)};
  if (is_literal(charter)) {
    simulation.run = TRY(paper->rows(input, options));
    simulation.why_not_private.insert(simulation.why_not_private.begin(),
                                      "calibration \"paper\": real-valued noise for a bound that "
                                      "nothing enforces, and no ledger");
  } else if (!options.out.empty()) {
    TRY(clear_ledgers(charter, options.out));
  }
  return simulation;
}

std::vector<SimulateResult::Owner> owners_of(const SimulateInput& input,
                                             const Simulation& simulation, const Outcome& outcome,
                                             double joint, int threads) {
  const Charter& charter = input.charter;
  const Reference& reference = simulation.reference;
  std::optional<double> pilot_only;  // The same for all.
  if (input.pilot)
    pilot_only = reference.relative(fitness_of(charter, input.pilot, reference, threads));
  std::vector<SimulateResult::Owner> owners;
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    const charter::Owner& who = charter.owners[i];
    const OwnerShare& share = outcome.first.owners[i];
    SimulateResult::Owner owner{
        .name = who.name,
        .source = input.owners[i].source,
        .rows = static_cast<uint64_t>(charter.records ? charter.records->count : who.rows),
        .epsilon = simulation.protects ? who.epsilon : std::numeric_limits<double>::infinity(),
        .delta = who.delta,
        .epsilon_spent = share.spent.epsilon,
        .epsilon_evaluation = share.spent.evaluation,
        .answers = share.answers,
        .weight = share.weight,
        .noise_scale = share.noise_scale,
        .pilot_only = pilot_only,
        .joint = joint,
        .local_fitness = simulation.alone(reference, i)};
    owner.local_only = reference.relative(owner.local_fitness);
    for (size_t k = 0; k < outcome.own.size(); ++k)  // It takes home what it made of the answers.
      if (outcome.first.own[k].owner == i) owner.joint = spread_of(outcome.own[k]).mean;
    owner.gains = owner.joint < owner.local_only;
    owners.push_back(std::move(owner));
  }
  return owners;
}

/// The model of the first run, or the manifest of its parts. No file of a model without a promise.
Result<std::filesystem::path> keep_model(const Charter& charter, const SimulateOptions& options,
                                         const RunOutcome& first) {
  if (options.out.empty()) return std::filesystem::path();
  if (first.manifest) {
    const auto file = options.out / "manifest.json";
    TRY(write_file(file, *first.manifest));
    return file;
  }
  if (is_literal(charter)) return std::filesystem::path();
  protocol::Trained trained{.theta = first.model,
                            .evaluation = first.evaluation,
                            .distance = first.distance,
                            .stopped = first.stopped};
  for (const OwnerShare& share : first.owners)
    trained.spent.push_back(share.spent), trained.answers.push_back(share.answers);
  const auto file = options.out / "model.json";
  TRY(write_model(
      file, protocol::trained_model(charter, trained,
                                    {.started = SimulatedClock().now(), .seed = options.seed})));
  return file;
}

Result<SimulateResult::Quality> quality_of(const SimulateInput& input,
                                           const SimulateOptions& options,
                                           const Simulation& simulation, const Outcome& outcome) {
  const Reference& reference = simulation.reference;
  SimulateResult::Quality quality{.optimum = reference.optimum,
                                  .evaluation = outcome.first.evaluation,
                                  .distances = outcome.distances,
                                  .pilot = outcome.first.pilot,
                                  .stopped = outcome.first.stopped,
                                  .alarms = outcome.alarms};
  for (const auto& round : outcome.by_round) quality.by_round.push_back(spread_of(round));
  quality.relative_fitness = quality.by_round.back();
  std::vector<double> fitness = outcome.by_round.back();
  for (double& value : fitness) value = reference.optimum.fitness * (1 + value);
  quality.fitness = spread_of(fitness);
  if (options.baseline && !input.charter.records)
    quality.output_perturbation = TRY(baseline(input, options, reference));
  for (size_t k = 0; k < outcome.own.size(); ++k) {
    const OwnerLearned& own = outcome.first.own[k];
    quality.own_models.push_back(
        {input.charter.owners[own.owner].name, spread_of(outcome.own[k]), own.published});
  }
  quality.joint_metrics = simulation.metrics(outcome.first.model);
  quality.optimum_metrics = simulation.metrics(reference.optimum.theta);
  return quality;
}

Result<SimulateResult> result_of(const SimulateInput& input, const SimulateOptions& options,
                                 const Simulation& simulation, const Outcome& outcome) {
  const Charter& charter = input.charter;
  SimulateResult result{.job = {.charter = charter.name,
                                .charter_hash = to_hex(charter.hash),
                                .seed = options.seed,
                                .runs = options.runs,
                                .calibration = std::string(name_of(charter.privacy.calibration)),
                                .loss = std::string(name_of(charter.model.loss)),
                                .penalty = charter.model.l1 > 0 ? "l1" : "l2",
                                .target = charter.schema.target,
                                .columns = charter.records.has_value()},
                        .quality = TRY(quality_of(input, options, simulation, outcome)),
                        .traffic = {outcome.first.bytes_up, outcome.first.bytes_down},
                        .timing = {.threads = options.threads},
                        .why_not_private = simulation.why_not_private,
                        .warnings = simulation.warnings};
  result.owners =
      owners_of(input, simulation, outcome, result.quality.relative_fitness.mean, options.threads);
  result.model = TRY(keep_model(charter, options, outcome.first));
  return result;
}

}  // namespace

SimulateInput as_trained(const SimulateInput& input) {
  SimulateInput own = input;
  for (charter::Owner& owner : own.charter.owners)
    owner.sign_key = simulated_key(owner.name).public_key();
  const auto norm = plan::shrunk_to(own.charter);
  for (size_t i = 0; norm && i < own.owners.size(); ++i) {
    OwnerData& owner = own.owners[i];
    owner.rows = learn::shrunk(owner.rows, *norm);
    if (owner.fresh) owner.fresh = learn::shrunk(*owner.fresh, *norm);
  }
  return own;
}

Spread spread_of(std::vector<double> values) {
  check(!values.empty());
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  Spread spread;
  for (double value : values) spread.mean += value / n;
  double squares = 0;
  for (double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.standard_error = values.size() > 1 ? std::sqrt(squares / (n - 1) / n) : 0;
  const auto quantile = [&](double part) {  // Linear between the two nearest.
    const double place = part * (n - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (place - double(below)) * (values[above] - values[below]);
  };
  spread.p25 = quantile(.25), spread.p50 = quantile(.5), spread.p75 = quantile(.75);
  return spread;
}

Result<SimulateResult> simulate(const SimulateInput& given, const SimulateOptions& options,
                                const Literal* paper) {
  const auto started = std::chrono::steady_clock::now();
  if (is_literal(given.charter) && !paper) return not_in_the_library();
  if (options.baseline && !given.charter.records) TRY(check_baseline(given));
  if (options.log_loss && given.charter.model.loss != charter::Loss::kLogistic)
    return Error{Code::kInvalid,
                 "log loss judges models of two classes with the logistic loss only",
                 "Leave out --metric.",
                 {.key = "model.loss"}};
  const SimulateInput changed =
      given.charter.secure_aggregation ? as_trained(given) : SimulateInput{};
  const SimulateInput& input = given.charter.secure_aggregation ? changed : given;
  const Simulation simulation =
      TRY(input.charter.records ? simulation_of_columns(input, options, paper)
                                : simulation_of_rows(input, options, paper));
  const Outcome outcome = TRY(all_runs(simulation, options.runs));
  SimulateResult result = TRY(result_of(input, options, simulation, outcome));
  result.held_out = held_out_part(input, options);
  result.worth = options.worth;
  if (has_fresh_rows(input))
    result.figures = fresh_figures(input, options, outcome.first.model);
  else if (result.held_out > 0)
    result.figures = TRY(held_out_figures(
        input, options, [&](const SimulateInput& kept) { return train_once(kept, options); }));
  result.timing.wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return result;
}

}  // namespace parley::sim
