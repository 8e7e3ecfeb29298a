#include "parley/forecast/uncertainty.h"

#include <algorithm>
#include <cmath>

#include "parley/base/math/eigen.h"
#include "parley/base/math/seeded_random.h"
#include "parley/base/memory/parallel.h"
#include "parley/base/result.h"
#include "parley/forecast/propagate/moments.h"
#include "parley/learn/fitness.h"

namespace parley::forecast {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

constexpr size_t kParts = 5;

Matrix root_of(const OutputDistribution& distribution) {
  const auto p = static_cast<Eigen::Index>(distribution.mean.size());
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(
      Matrix(Eigen::Map<const Matrix>(distribution.covariance.data(), p, p)));
  return solver.eigenvectors() * solver.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal();
}

std::vector<double> quadratic_draws(const PilotStatistics& statistics,
                                    const OutputDistribution& distribution) {
  std::vector<double> draws;
  for (std::vector<double>& model : models_of(distribution, statistics.box, 1500)) {
    for (size_t j = 0; j < model.size(); ++j) model[j] -= statistics.optimum.theta[j];
    draws.push_back(quadratic_cost(statistics.hessian, model, {}));
  }
  return draws;
}

/// Of a loss that is not quadratic: computed on about two thousand rows.
std::vector<double> measured_draws(const PilotStatistics& statistics,
                                   const OutputDistribution& distribution) {
  const auto rows =
      part_of(*statistics.rows, 0, std::max<size_t>(1, statistics.rows->size() / 2000));
  learn::Fitness fitness(statistics.loss, statistics.dimension(), statistics.l2);
  fitness.add(*rows);
  const double best = fitness.at(statistics.optimum.theta);
  std::vector<double> draws;
  for (const std::vector<double>& model : models_of(distribution, statistics.box, 200))
    draws.push_back(fitness.at(model) - best);
  return draws;
}

/// The job as a resample would forecast it: a start at the pilot's optimum becomes the resample's
/// own.
Job job_for(const PilotStatistics& part, Job job) {
  if (auto* sync = std::get_if<SyncJob>(&job.kind); sync && sync->start_spread > 0)
    sync->schedule.start = part.optimum.theta;
  if (auto* local = std::get_if<FederatedJob>(&job.kind); local && local->start_spread > 0)
    local->start = part.optimum.theta;
  return job;
}

struct Psi {
  double excess = 0, optimisation = 0;
};

/// What each resample forecasts, in units of its own f*; without runs, which take long and would
/// change the spread of the forecasts little.
std::vector<Psi> psi_of_resamples(const std::vector<PilotStatistics>& resamples, const Job& job,
                                  int threads, const Meanwhile& meanwhile) {
  std::vector<Psi> found(resamples.size());
  each_in_parallel(threads, resamples.size() + meanwhile.count, [&](size_t k) {
    if (k >= resamples.size()) return meanwhile.work(k - resamples.size());
    const Prediction resample =
        predict(resamples[k], job_for(resamples[k], job), {.runs = false, .clipped = false});
    const double best = resamples[k].optimum.fitness;
    found[k] = {resample.excess / best, resample.optimisation / best};
  });
  return found;
}

}  // namespace

std::vector<std::vector<double>> models_of(const OutputDistribution& distribution, double box,
                                           size_t count) {
  const auto p = static_cast<Eigen::Index>(distribution.mean.size());
  const Matrix root = root_of(distribution);
  const Vector mean = Eigen::Map<const Vector>(distribution.mean.data(), p);
  SeededRandom random(1, 0);
  std::vector<std::vector<double>> models;
  for (size_t k = 0; k < count; ++k) {
    Vector normal(p);
    for (double& value : normal) value = random.normal();
    const Vector model = (mean + root * normal).cwiseMax(-box).cwiseMin(box);
    models.emplace_back(model.begin(), model.end());
  }
  return models;
}

std::vector<double> excess_draws(const PilotStatistics& statistics, const Prediction& prediction) {
  const bool quadratic = std::holds_alternative<learn::Squared>(statistics.loss);
  std::vector<double> draws = quadratic ? quadratic_draws(statistics, prediction.distribution)
                                        : measured_draws(statistics, prediction.distribution);
  double mean = 0;
  for (double draw : draws) mean += draw / static_cast<double>(draws.size());
  if (mean > 0)
    for (double& draw : draws) draw *= prediction.excess / mean;
  return draws;
}

Resamples resamples_of(const charter::Model& model, const PilotStatistics& statistics,
                       const ManyRows& redrawn, int threads) {
  Resamples resamples{{}, !redrawn.empty()};
  if (!resamples.redrawn && statistics.rows->size() < 4 * statistics.dimension() * kParts)
    return resamples;  // too few to tell
  resamples.statistics.resize(resamples.redrawn ? redrawn.size() : kParts);
  each_in_parallel(threads, resamples.statistics.size(), [&](size_t k) {
    resamples.statistics[k] =
        statistics_of(model, resamples.redrawn ? redrawn[k] : part_of(*statistics.rows, k, kParts));
  });
  return resamples;
}

PilotError pilot_error(const Resamples& resamples, const PilotStatistics& statistics,
                       const Job& job, const Prediction& here, double owners_rows, int threads,
                       const Meanwhile& meanwhile) {
  const std::vector<Psi> found = psi_of_resamples(resamples.statistics, job, threads, meanwhile);
  if (resamples.statistics.empty()) return {1, 0};
  double sum = 0, squares = 0, unfinished = 0;
  for (const Psi& resample : found) {
    sum += resample.excess, squares += resample.excess * resample.excess;
    unfinished += resample.optimisation;
  }
  const auto count = static_cast<double>(found.size());
  const double mean = sum / count;
  const double variance = std::max(squares / count - mean * mean, 0.0) * count / (count - 1);
  const double m = statistics.count();
  const double steps = here.optimisation - here.drift;  // Resamples ignore that owners differ.
  const double more = unfinished / count - steps / statistics.optimum.fitness;
  // Steps that were not fitted to the pilot fit the owners' rows as well as the pilot's.
  const bool fitted = !std::holds_alternative<FederatedJob>(job.kind) &&
                      !std::holds_alternative<VerticalJob>(job.kind);
  const double curvature = fitted ? std::max(more, 0.0) : 0;
  if (resamples.redrawn) return {std::sqrt(variance) / mean, curvature};
  const double ratio = (1 / m + 1 / owners_rows) / (count / m - 1 / m);
  return {std::sqrt(variance / count) / mean, curvature * ratio};
}

double with_owners_sampling(const PilotStatistics& statistics, double relative, double psi,
                            double owners_rows) {
  const double both = relative * std::sqrt(1 + statistics.count() / owners_rows);
  const double level = statistics.loss_deviation *
                       std::sqrt(1 / statistics.count() + 1 / owners_rows) /
                       statistics.optimum.fitness;
  return std::hypot(both, (1 + std::min(psi, 1.0)) * level);
}

double disagreement(const charter::Model& model, const PilotStatistics& statistics) {
  constexpr size_t kRows = 2000;  // of each half are enough
  const size_t half = statistics.rows->size() / 2, apart = std::max<size_t>(1, half / kRows);
  if (half < 2 * statistics.dimension() || statistics.sampling <= 0) return 1;
  std::vector<double> off(statistics.dimension());
  double count = 0;
  for (const bool second : {false, true}) {
    data::Rows rows(statistics.rows->columns());
    for (size_t i = second ? half : 0; i < (second ? 2 : 1) * half; i += apart)
      rows.add(statistics.rows->row(i), statistics.rows->label(i));
    learn::Fitness fitness(statistics.loss, rows.columns(), model.l2);
    fitness.add(rows);
    const auto theta = fitness.minimum(model.box).theta;
    for (size_t j = 0; j < off.size(); ++j) off[j] += (second ? -1 : 1) * theta[j];
    count = static_cast<double>(rows.size());
  }
  return quadratic_cost(statistics.hessian, off, {}) / (statistics.sampling * 2 / count);
}

}  // namespace parley::forecast
