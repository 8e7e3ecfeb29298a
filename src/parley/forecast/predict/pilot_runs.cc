#include <algorithm>
#include <cmath>

#include "parley/base/result.h"
#include "parley/forecast/predict/predict.h"
#include "parley/forecast/propagate/moments.h"
#include "parley/learn/fitness.h"
#include "parley/sim/monte_carlo/monte_carlo.h"

namespace parley::forecast {
namespace {

namespace mc = sim::monte_carlo;

constexpr uint64_t kPilotRuns = 128;  // They fill vectors of 16 on two threads.

mc::Population population_of(const PilotStatistics& statistics, learn::ClipIn norm, double limit,
                             int threads) {
  return mc::Population({statistics.loss, statistics.l2, statistics.box, norm, limit},
                        statistics.dimension(), mc::Precision::kSingle, threads);
}

/// Laplace noise goes with L1, Gaussian with L2.
double scale_of(learn::ClipIn norm, double variance) {
  return std::sqrt(norm == learn::ClipIn::kL1 ? variance / 2 : variance);
}

/// Excess of the squared loss around the optimum of the rows that ran, by the Hessian of all public
/// rows, which is a better estimate of the owners' than that of a part.
std::vector<double> by_all_rows(const PilotStatistics& statistics, const data::Rows& ran,
                                std::vector<std::vector<double>> models) {
  learn::Fitness fitness(statistics.loss, statistics.dimension(), statistics.l2);
  fitness.add(ran);
  const auto centre = fitness.minimum(statistics.box).theta;
  std::vector<double> excess;
  for (std::vector<double>& model : models) {
    for (size_t j = 0; j < model.size(); ++j) model[j] -= centre[j];
    excess.push_back(quadratic_cost(statistics.hessian, model, {}));
  }
  return excess;
}

PilotRuns result_of(mc::Job job, const PilotStatistics& statistics, const data::Rows& rows,
                    int threads) {
  job.runs = kPilotRuns;
  job.keep_models = true;
  const auto samples = mc::run(job, {.threads = threads});
  check(bool(samples));  // It can fail only if it stores results or is cancelled.
  const mc::Sample& sample = samples->front();
  const bool quadratic = std::holds_alternative<learn::Squared>(statistics.loss);
  const double unit = quadratic ? 1 : statistics.optimum.fitness;
  const auto spread =
      sim::spread_of(quadratic ? by_all_rows(statistics, rows, sample.models) : sample.last());
  return {spread.mean * unit, spread.standard_error * unit, distribution_of(sample.models)};
}

mc::Noise noise_of(learn::ClipIn norm) {
  return norm == learn::ClipIn::kL1 ? mc::Noise::kLaplace : mc::Noise::kGaussian;
}

}  // namespace

std::shared_ptr<const data::Rows> rows_to_run(const PilotStatistics& statistics, size_t about) {
  return part_of(*statistics.rows, 0, std::max<size_t>(1, statistics.rows->size() / about));
}

PilotRuns run_on_pilot(const PilotStatistics& statistics, const SyncJob& job, int threads,
                       size_t about) {
  const auto rows = rows_to_run(statistics, about);
  mc::Population population = population_of(statistics, job.norm, job.limit, threads);
  population.add(*rows);
  return result_of({.population = population,
                    .rule = job.schedule,
                    .noise = noise_of(job.norm),
                    .cells = {{.scales = {scale_of(job.norm, job.variance)}}}},
                   statistics, *rows, threads);
}

PilotRuns run_on_pilot(const PilotStatistics& statistics, const AsyncJob& job, bool quiet,
                       int threads) {
  check(job.variances.size() <= kAsyncOwnersMax);
  const auto rows = rows_to_run(statistics, kRunRows);
  mc::Population population = population_of(statistics, job.norm, job.limit, threads);
  mc::Cell cell;
  for (const double variance : job.variances) {
    population.add(*rows);
    cell.scales.push_back(quiet ? 0 : scale_of(job.norm, variance));
  }
  return result_of({.population = population,
                    .rule = mc::Async{job.rule},
                    .noise = noise_of(job.norm),
                    .cells = {cell}},
                   statistics, *rows, threads);
}

}  // namespace parley::forecast
