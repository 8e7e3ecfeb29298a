#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>

#include "parley/base/result.h"
#include "parley/forecast/predict/predict.h"
#include "parley/forecast/propagate/expected_loss.h"
#include "parley/forecast/propagate/moments.h"
#include "parley/forecast/propagate/propagation.h"
#include "parley/learn/solver/solvers.h"

namespace parley::forecast {
namespace {

/// Shares of clipping or clamping up to this are ignored; the error is about as large.
constexpr double kNegligible = 1e-3;
/// Rows used for other variances of the noise.
constexpr size_t kTableRows = 1000;

Propagation propagation(const PilotStatistics& statistics, const SyncJob& job,
                        const Effort& effort) {
  Propagation how{.rows = *statistics.rows,
                  .loss = statistics.loss,
                  .l2 = statistics.l2,
                  .box = statistics.box,
                  .norm = job.norm,
                  .limit = job.limit,
                  .variance_factor = job.variance_factor,
                  .threads = effort.threads};
  if (job.start_spread > 0)
    for (double value : statistics.spread) how.start_spread.push_back(job.start_spread * value);
  return how;
}

OutputDistribution distribution_of(const PilotStatistics& statistics, const ExactMoments& moments,
                                   double variance) {
  OutputDistribution distribution{statistics.optimum.theta, moments.start_part};
  for (size_t j = 0; j < distribution.mean.size(); ++j) distribution.mean[j] += moments.mean[j];
  for (size_t k = 0; k < distribution.covariance.size(); ++k)
    distribution.covariance[k] += variance * moments.noise_part[k];
  return distribution;
}

double smallest_gain(const OutputDistribution& distribution, double box) {
  const size_t p = distribution.mean.size();
  double gain = 1;
  for (size_t j = 0; j < p; ++j)
    gain = std::min(gain,
                    clamped(distribution.mean[j], distribution.covariance[j * (p + 1)], box).gain);
  return gain;
}

ExactMoments exact(const PilotStatistics& statistics, const SyncJob& job, const Propagation& how,
                   bool last) {
  Quadratic quadratic{statistics.hessian, job.schedule.start, how.start_spread};
  for (size_t j = 0; j < quadratic.start.size(); ++j)
    quadratic.start[j] -= statistics.optimum.theta[j];
  learn::Schedule schedule = job.schedule;
  if (last)
    for (auto& round : schedule.rounds) round.average = 1;
  return exact_moments(quadratic, schedule, job.variance_factor);
}

/// Exact if neither the clip nor the box is active, in the output or in any iterate.
std::optional<Prediction> by_moments(const PilotStatistics& statistics, const SyncJob& job,
                                     const Propagation& how) {
  if (!std::holds_alternative<learn::Squared>(statistics.loss)) return std::nullopt;
  const auto clips = [&](const OutputDistribution& at) {
    return estimate_output(how.estimated(), at).clipped > 0;
  };
  if (clips({job.schedule.start, std::vector<double>(statistics.hessian.size())}))
    return std::nullopt;
  const OutputDistribution widest =
      distribution_of(statistics, exact(statistics, job, how, true), job.variance);
  const double gain = smallest_gain(widest, statistics.box);
  if (1 - gain > kNegligible || clips(widest)) return std::nullopt;
  const ExactMoments moments = exact(statistics, job, how, false);
  return Prediction{.predictor = "moments",
                    .why = "squared loss; neither clip nor box is active",
                    .excess = moments.optimisation + job.variance * moments.noise_gain,
                    .optimisation = moments.optimisation,
                    .distribution = distribution_of(statistics, moments, job.variance),
                    .smallest_gain = gain};
}

std::string why_propagation(const PilotStatistics& statistics, const Prediction& found) {
  if (!std::holds_alternative<learn::Squared>(statistics.loss))
    return "loss " + std::string(learn::name_of(statistics.loss)) + " is not quadratic";
  return found.smallest_gain < 1 - kNegligible ? "squared loss, the box is met"
                                               : "squared loss, some records are clipped";
}

/// The squared loss follows from the rows' moments; the share of clipped records needs the rows.
OutputEstimate estimated(const PilotStatistics& statistics, const Propagation& how,
                         const OutputDistribution& distribution, bool clipped) {
  if (!statistics.moments) return estimate_output(how.estimated(), distribution);
  return {fitness_at(statistics, distribution),
          clipped ? estimate_output(how.estimated(), distribution).clipped : 0};
}

Prediction by_propagation(const PilotStatistics& statistics, const SyncJob& job,
                          const Propagation& how, bool clipped) {
  const Propagator propagator(how);
  const Propagated with = propagator.run(job.schedule, job.variance);
  const Propagated without = propagator.run(job.schedule, 0);
  const OutputEstimate noisy = estimated(statistics, how, with.output, clipped);
  const OutputEstimate quiet = estimated(statistics, how, without.output, false);
  Prediction found{.predictor = "gaussian",
                   .excess = noisy.fitness - statistics.optimum.fitness,
                   .optimisation = quiet.fitness - statistics.optimum.fitness,
                   .distribution = with.output,
                   .smallest_gain = with.smallest_gain,
                   .clipped = noisy.clipped};
  found.why = why_propagation(statistics, found);
  return found;
}

/// The squared loss is run on fewer rows, whose choice moves the result. The ratio of Gaussian
/// propagation on all rows and on these corrects for it.
double all_to_part(const Prediction& all, const PilotStatistics& statistics, const SyncJob& job,
                   size_t rows) {
  const auto ran = rows_to_run(statistics, rows);
  learn::Moments moments(ran->columns());
  moments.add(*ran, 1);
  const auto centre = learn::squared_optimum(moments, statistics.l2, statistics.box).theta;
  Propagation how = propagation(statistics, job, {});
  how.looked_at = rows;
  OutputDistribution found = Propagator(how).run(job.schedule, job.variance).output;
  for (size_t j = 0; j < centre.size(); ++j) found.mean[j] -= centre[j];
  return all.excess / quadratic_cost(statistics.hessian, found.mean, found.covariance);
}

/// Where the normal approximation fails: by runs of the algorithm.
void by_runs(Prediction& found, const PilotStatistics& statistics, const SyncJob& job,
             int threads) {
  const bool box = found.smallest_gain < kBoxDecides;
  if (!box && found.excess <= far_from_best(statistics.loss) * statistics.optimum.fitness) return;
  const size_t rows = statistics.moments ? kRunRows / 2 : kRunRows;
  const PilotRuns runs = run_on_pilot(statistics, job, threads, rows);
  found.predictor = "pilot_monte_carlo";
  found.why =
      box ? "the box decides" : "so far from the best, iterates are not normally distributed";
  const double factor = statistics.moments ? all_to_part(found, statistics, job, rows) : 1;
  found.excess = std::max(factor * runs.excess, found.optimisation);
  found.distribution = runs.distribution;
}

/// The largest step times the largest curvature of the preconditioned Hessian.
double stability(const PilotStatistics& statistics, const learn::Schedule& schedule) {
  double step = 0;
  for (const auto& round : schedule.rounds) step = std::max(step, round.step);
  if (schedule.preconditioner.empty()) return step * statistics.largest_curvature;
  return step;  // pilot-Newton steps by the inverse curvature
}

}  // namespace

double far_from_best(const learn::Losses& loss) {
  return std::holds_alternative<learn::Squared>(loss) ? 2 : .5;
}

Prediction predict(const PilotStatistics& statistics, const SyncJob& job, const Effort& effort) {
  const Propagation how = propagation(statistics, job, effort);
  auto found = by_moments(statistics, job, how);
  if (!found) {
    found = by_propagation(statistics, job, how, effort.clipped);
    if (effort.runs) by_runs(*found, statistics, job, effort.threads);
  }
  found->stability = stability(statistics, job.schedule);
  return *std::move(found);
}

namespace {

/// Variances in units of the job's; without noise first.
constexpr std::array<double, ResponseRuns::kCount> kTimes = {0.0, 1.0, 1e-1, 1e1, 1e2};

Propagation fewer_rows(const PilotStatistics& statistics, const SyncJob& job) {
  Propagation how = propagation(statistics, job, {});
  how.looked_at = kTableRows;
  return how;
}

}  // namespace

struct ResponseRuns::State {
  const SyncJob& job;
  Propagation how;
  Propagator propagator{how};
  std::array<double, kCount> fitness{};
};

ResponseRuns::ResponseRuns(const PilotStatistics& statistics, const SyncJob& job)
    : state_(new State{job, fewer_rows(statistics, job)}) {}

ResponseRuns::~ResponseRuns() = default;

void ResponseRuns::run(size_t k) {
  const SyncJob& job = state_->job;
  const Propagated found = state_->propagator.run(job.schedule, kTimes.at(k) * job.variance);
  state_->fitness.at(k) = state_->propagator.fitness(found);
}

/// Fewer rows have another optimum: their excess is scaled to that of all rows at this variance.
Response ResponseRuns::response(const Prediction& here) const {
  const auto& fitness = state_->fitness;
  const double variance = state_->job.variance, none = fitness[0], middle = fitness[1];
  const double noise = here.excess - here.optimisation;
  const double factor = middle > none && noise > 0 ? noise / (middle - none) : 1;
  std::vector<std::pair<double, double>> points = {{0, here.optimisation}};
  for (size_t k = 2; k < kTimes.size(); ++k) {
    if (kTimes[k] == 1e1) points.emplace_back(variance, here.excess);
    points.emplace_back(kTimes[k] * variance, here.optimisation + factor * (fitness[k] - none));
  }
  return Response::table(std::move(points));
}

Response response_of(const SyncJob& job, const Prediction& exact) {
  const double gain = job.variance > 0 ? (exact.excess - exact.optimisation) / job.variance : 0;
  return Response::line(exact.optimisation, gain);
}

}  // namespace parley::forecast
