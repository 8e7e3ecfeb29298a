#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "parley/base/math/seeded_random.h"
#include "parley/base/memory/parallel.h"
#include "parley/base/result.h"
#include "parley/forecast/predict/local_steps.h"
#include "parley/forecast/predict/predict.h"

namespace parley::forecast {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr Index kRuns = 150;
/// Multiplications that a study of local steps may take: about a second.
constexpr double kProducts = 1.5e9;
constexpr double kRowsLeast = 300, kRowsMost = 2000, kRowsOfOne = 20000;

size_t rows_for(const PilotStatistics& statistics, const FederatedJob& job, double models) {
  const double each = static_cast<double>(job.rounds * job.plan.steps) * models *
                      static_cast<double>(statistics.dimension());
  const double most = models == 1 ? kRowsOfOne : kRowsMost;
  return static_cast<size_t>(std::clamp(kProducts / each, kRowsLeast, most));
}

VectorXd vector(const std::vector<double>& values) {
  return Eigen::Map<const VectorXd>(values.data(), static_cast<Index>(values.size()));
}

double without_noise(const PilotStatistics& statistics, FederatedJob job) {
  job.variance = 0;
  return run_on_pilot(statistics, job).excess;
}

/// One run without noise is quick and exact; propagation extrapolates between some of the rounds.
void finish_exactly(Prediction& found, const PilotStatistics& statistics, const FederatedJob& job) {
  if (found.predictor != "gaussian" || job.start_spread > 0) return;
  const double quiet = without_noise(statistics, job);
  found.excess += quiet - found.optimisation;
  found.optimisation = quiet;
}

/// Where the normal approximation fails, or updates are clipped: by runs of the rounds.
void by_runs(Prediction& found, const PilotStatistics& statistics, const FederatedJob& job) {
  const bool box = found.smallest_gain < kBoxDecides, cut = job.plan.max_update > 0;
  if (!box && !cut && found.excess <= far_from_best(statistics.loss) * statistics.optimum.fitness)
    return;
  const PilotRuns runs = run_on_pilot(statistics, job);
  found.predictor = "pilot_monte_carlo";
  found.why = cut   ? "updates of whole owners are cut to a length"
              : box ? "the box decides"
                    : "so far from the best, iterates are not normally distributed";
  if (cut) found.optimisation = without_noise(statistics, job);
  found.excess = std::max(runs.excess, found.optimisation);
  found.distribution = runs.distribution;
}

double step_of(const learn::LocalPlan& plan, int64_t t) {
  if (plan.delay == 0) return plan.step;
  return plan.step * (plan.delay / (plan.delay + static_cast<double>(t)));
}

std::string steps_text(const FederatedJob& job) {
  return ", " + std::to_string(job.plan.steps) +
         (job.plan.steps == 1 ? " local step" : " local steps") + " a round";
}

}  // namespace

SyncJob as_one_schedule(const FederatedJob& job) {
  SyncJob table{.start_spread = job.start_spread,
                .norm = job.norm,
                .limit = job.limit,
                .variance = job.variance};
  table.schedule.start = job.start;
  const int64_t steps = job.rounds * job.plan.steps;
  for (int64_t t = 0; t < steps; ++t) {
    const double step = step_of(job.plan, t);
    table.schedule.rounds.push_back({step, t + 1 == steps ? 1.0 : 0.0});
    // The noise is on the model itself, not on a gradient times the step.
    table.variance_factor.push_back((t + 1) % job.plan.steps == 0 ? 1 / (step * step) : 0);
  }
  return table;
}

Prediction predict(const PilotStatistics& statistics, const FederatedJob& job,
                   const Effort& effort) {
  Prediction found =
      predict(statistics, as_one_schedule(job), {.threads = effort.threads, .runs = false});
  found.why += steps_text(job);
  if (!effort.runs) return found;
  finish_exactly(found, statistics, job);
  by_runs(found, statistics, job);
  if (job.plan.steps == 1) return found;
  found.drift = drift_of(statistics, job);
  const double least = -found.optimisation;  // Drift may also help.
  found.drift = std::max(found.drift, least);
  found.optimisation += found.drift;
  found.excess += found.drift;
  return found;
}

Response response_of(const PilotStatistics& statistics, const FederatedJob& job,
                     const Prediction& here, int threads) {
  const SyncJob table = as_one_schedule(job);
  if (here.predictor == "moments") return response_of(table, here);
  ResponseRuns runs(statistics, table);
  in_parallel(threads, ResponseRuns::kCount, [&](size_t, size_t first, size_t last) {
    for (size_t k = first; k < last; ++k) runs.run(k);
  });
  return runs.response(here);
}

PilotRuns run_on_pilot(const PilotStatistics& statistics, const FederatedJob& job) {
  const Index count = job.variance > 0 ? kRuns : 1;
  const size_t most = rows_for(statistics, job, static_cast<double>(count));
  const auto rows =
      part_of(*statistics.rows, 0, std::max<size_t>(1, statistics.rows->size() / most));
  const LocalSteps steps(*rows, job.plan, job.norm, job.limit);
  SeededRandom random(5, 0);
  const double deviation = std::sqrt(job.variance), box = job.plan.box;
  MatrixXd models = vector(job.start).replicate(1, count);
  for (int64_t r = 0; r < job.rounds; ++r) {
    MatrixXd ends = models;
    steps.take(ends, {}, r * job.plan.steps);
    for (Index k = 0; k < count; ++k) {
      VectorXd noise(models.rows());
      for (double& value : noise) value = deviation * random.normal();
      models.col(k) += steps.updates(ends.col(k), models.col(k)) + noise;
    }
    models = models.cwiseMax(-box).cwiseMin(box);
  }
  const VectorXd all = VectorXd::Ones(static_cast<Index>(rows->size()));
  const double best = steps.fitness(steps.optimum(vector(statistics.optimum.theta), all), all);
  PilotRuns found;
  std::vector<std::vector<double>> kept;
  double squares = 0;
  for (Index k = 0; k < count; ++k) {
    const VectorXd model = models.col(k);
    const double excess = steps.fitness(model, all) - best;
    found.excess += excess / static_cast<double>(count);
    squares += excess * excess / static_cast<double>(count);
    kept.emplace_back(model.begin(), model.end());
  }
  const double variance = std::max(squares - found.excess * found.excess, 0.0);
  found.standard_error = std::sqrt(variance / static_cast<double>(count));
  found.distribution = distribution_of(kept);
  return found;
}

double drift_of(const PilotStatistics& statistics, const FederatedJob& job) {
  constexpr double kMade = 13;  // at most 12 synthetic owners, and the pooled model
  const SyntheticOwners owners =
      synthetic_owners(statistics, {.weights = job.weights,
                                    .rows = job.rows,
                                    .differ = job.differ,
                                    .rows_most = rows_for(statistics, job, kMade)});
  const LocalSteps steps(*owners.rows, job.plan, job.norm, job.limit);
  const VectorXd pooled = owners.pooled();
  VectorXd apart = vector(job.start), alike = apart;
  for (int64_t r = 0; r < job.rounds; ++r) {
    MatrixXd ends = apart.replicate(1, owners.shares->cols());
    steps.take(ends, *owners.shares, r * job.plan.steps);
    apart += steps.updates(ends, apart) * *owners.weights;
    apart = apart.cwiseMax(-job.plan.box).cwiseMin(job.plan.box);
    MatrixXd end = alike;
    steps.take(end, pooled, r * job.plan.steps);
    alike += steps.updates(end, alike);
  }
  return steps.fitness(apart, pooled) - steps.fitness(alike, pooled);
}

}  // namespace parley::forecast
