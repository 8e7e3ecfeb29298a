#include "parley/forecast/joint.h"

#include <algorithm>
#include <cmath>

#include "parley/forecast/uncertainty.h"

namespace parley::forecast {
namespace {

/// The relative half width of a 90 % interval of a mean of five (Student's t, four degrees).
constexpr double kStudent = 2.132;
/// The same of a normal number.
constexpr double kNormal = 1.645;

}  // namespace

void add_band(Forecast& result, const Study& study, const MetricEstimator& estimator,
              double error) {
  RelativeFitness& psi = result.relative_fitness;
  MetricForecast& metric = result.metric;
  std::vector<double> draws = excess_draws(study.statistics, study.prediction);
  const double shift = psi.mean * study.best - study.prediction.excess;  // of the weights
  for (double& draw : draws) draw = (draw + shift) / study.best;
  psi.p25 = quantile(draws, .25);
  psi.p50 = quantile(draws, .5);
  psi.p75 = quantile(draws, .75);
  const double wide = std::exp(std::min(kStudent * error, 5.0));
  psi.low = quantile(draws, .05) / wide;
  psi.high = quantile(draws, .95) * wide;
  // In the user's metric: what the band moves it by, and how well its level is known.
  const double per_psi = (metric.joint - metric.best) / psi.mean;
  const auto moved = [&](double to) { return (to - psi.mean) * per_psi; };
  const double level = kNormal * estimator.error();
  const double down = std::min(moved(psi.low), moved(psi.high));
  const double up = std::max(moved(psi.low), moved(psi.high));
  metric.low = metric.joint - std::hypot(down, level);
  metric.high = metric.joint + std::hypot(up, level);
  if (!estimator.smaller_is_better()) metric.high = std::min(metric.high, 1.0);
}

void add_parts(Forecast& result, const Study& study) {
  const double n = study.rows;
  double sampling = 0, gain = 0;  // what the weights cost, and what others' rows are worth
  for (size_t i = 0; i < study.players.size(); ++i) {
    const double off = study.job.weights[i] - study.players[i].rows / n;
    sampling += (study.game.spread() / study.players[i].rows + study.differ) * off * off;
    gain += study.game.spread() * (1 / study.players[i].rows - 1 / n) /
            static_cast<double>(study.players.size());
  }
  RelativeFitness& psi = result.relative_fitness;
  psi.optimisation = study.prediction.optimisation / study.best;
  psi.drift = study.prediction.drift / study.best;
  psi.privacy = (study.prediction.excess - study.prediction.optimisation) / study.best;
  psi.statistical_gain = sampling - gain;
  psi.mean = study.prediction.excess / study.best + sampling;
  psi.pilot_only = study.game.spread() * (1 / study.statistics.count() + 1 / n);
}

void add_distance(Forecast& result, const Study& study) {
  constexpr size_t kModels = 300;
  const OutputDistribution& distribution = study.prediction.distribution;
  const std::vector<double>& best = study.statistics.optimum.theta;
  double square = 0;
  for (size_t j = 0; j < best.size(); ++j)
    square += std::pow(distribution.mean[j] - best[j], 2) +
              distribution.covariance[j * (best.size() + 1)];
  result.optimum.distance_root = std::sqrt(square);
  for (const auto& model : models_of(distribution, study.statistics.box, kModels)) {
    double off = 0;
    for (size_t j = 0; j < best.size(); ++j) off += std::pow(model[j] - best[j], 2);
    result.optimum.distance += std::sqrt(off) / kModels;
  }
}

void add_metrics(Forecast& result, const Study& study, const MetricEstimator& estimator) {
  result.metric.name = estimator.name();
  result.metric.best = estimator.of_rows(0);
  result.metric.joint = estimator.at(study.prediction.distribution);
  result.metric.pilot_only = estimator.of_rows(1 / study.statistics.count() + 1 / study.rows);
}

bool surely(const RelativeFitness& joint, double local_only, double own) {
  const double runs = std::log(joint.high / joint.low) / (2 * kNormal);
  return std::fabs(std::log(joint.mean / local_only)) > kNormal * std::hypot(runs, own);
}

}  // namespace parley::forecast
