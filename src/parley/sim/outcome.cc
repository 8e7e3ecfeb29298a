#include "parley/sim/outcome.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "parley/plan/secagg_terms.h"
#include "parley/plan/terms.h"
#include "parley/sim/engine/engine.h"

namespace parley::sim {
namespace {

double scale_of(const auto& mechanism) {
  return std::visit([](const auto& known) { return static_cast<double>(known.scale()); },
                    mechanism);
}

}  // namespace

Result<double> noise_scale(const charter::Charter& charter, size_t owner) {
  const plan::Terms terms = TRY(plan::terms_for(charter, owner));
  const double rows = terms.fine_tune ? 1 : static_cast<double>(terms.rows);
  return scale_of(terms.mechanism) * terms.lattice.gamma() / rows;
}

Result<std::vector<double>> noise_scales(const charter::Charter& charter) {
  std::vector<double> scales;
  if (charter.secure_aggregation) {
    const plan::SecaggPlan plan = TRY(plan::secagg_plan(charter));
    for (const plan::SecaggTerms& terms : plan.owners)
      scales.push_back(scale_of(terms.mechanism) * std::fabs(plan.unit));
    return scales;
  }
  for (size_t i = 0; i < charter.owners.size(); ++i) scales.push_back(TRY(noise_scale(charter, i)));
  return scales;
}

Result<Outcome> all_runs(const Simulation& simulation, size_t runs) {
  Outcome outcome;
  for (uint64_t number = 0; number < runs; ++number) {
    RunOutcome run = TRY(simulation.run(simulation.reference, number));
    outcome.by_round.resize(std::max(outcome.by_round.size(), run.by_round.size()));
    for (size_t k = 0; k < run.by_round.size(); ++k) outcome.by_round[k].push_back(run.by_round[k]);
    outcome.own.resize(run.own.size());
    for (size_t k = 0; k < run.own.size(); ++k) outcome.own[k].push_back(run.own[k].relative);
    if (run.distance) outcome.distances.push_back(*run.distance);
    if (number == 0) outcome.first = std::move(run);
  }
  return outcome;
}

Result<RunOutcome> run_with_learner(const SimulateInput& input, const SimulateOptions& options,
                                    const Reference& reference, uint64_t run) {
  RunOutcome outcome;
  JobRun job = TRY(run_job({.input = input,
                            .options = options,
                            .run = run,
                            .journal = false,
                            .after = [&](const protocol::Learner& at) {
                              const uint64_t done = at.rounds_done();
                              if (done % at.sweep() != 0 && done != at.rounds()) return;
                              outcome.by_round.push_back(reference.relative_at(at.trained().theta));
                            }}));
  outcome.model = std::move(job.trained.theta);
  outcome.evaluation = job.trained.evaluation;
  outcome.distance = job.trained.distance;
  outcome.bytes_up = job.bytes_up, outcome.bytes_down = job.bytes_down;
  if (run > 0) return outcome;
  const std::vector<double> scales = TRY(noise_scales(input.charter));
  for (size_t i = 0; i < job.owners.size(); ++i)
    outcome.owners.push_back(
        {job.owners[i].spent, job.owners[i].taken, job.owners[i].weight, scales[i]});
  return outcome;
}

namespace {

/// Predictions and labels of records that are of a class.
struct OfClass {
  std::vector<double> predicted{}, labels{};
};
OfClass of_class(std::span<const double> predicted, std::span<const double> labels) {
  OfClass found;
  for (size_t i = 0; i < labels.size(); ++i)
    if (labels[i] != 0) found.predicted.push_back(predicted[i]), found.labels.push_back(labels[i]);
  return found;
}

}  // namespace

std::vector<learn::Metric> metrics_of(const charter::Charter& charter,
                                      std::span<const double> predicted,
                                      std::span<const double> labels) {
  if (!charter.schema.target.levels.empty() &&
      std::find(labels.begin(), labels.end(), 0.0) != labels.end()) {
    const OfClass known = of_class(predicted, labels);
    if (known.labels.empty()) return {};
    return metrics_of(charter, known.predicted, known.labels);
  }
  const bool log_odds = charter.model.loss == charter::Loss::kLogistic;
  const auto output = charter.schema.target.levels.empty() ? learn::Output::kValue
                      : log_odds                           ? learn::Output::kLogOdds
                                                           : learn::Output::kClassScore;
  return learn::metrics_of(output, predicted, labels);
}

}  // namespace parley::sim
