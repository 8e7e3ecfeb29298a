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
  std::vector<double> draws = excess_draws(study.facts, study.prediction);
  const double shift = result.mean * study.best - study.prediction.excess;  // of the weights
  for (double& draw : draws) draw = (draw + shift) / study.best;
  result.p25 = quantile(draws, .25);
  result.p50 = quantile(draws, .5);
  result.p75 = quantile(draws, .75);
  const double wide = std::exp(std::min(kStudent * error, 5.0));
  result.low = quantile(draws, .05) / wide;
  result.high = quantile(draws, .95) * wide;
  // In the user's metric: what the band moves it by, and how well its level is known.
  const double per_psi = (result.metric_joint - result.metric_best) / result.mean;
  const auto moved = [&](double psi) { return (psi - result.mean) * per_psi; };
  const double level = kNormal * estimator.error();
  const double down = std::min(moved(result.low), moved(result.high));
  const double up = std::max(moved(result.low), moved(result.high));
  result.metric_low = result.metric_joint - std::hypot(down, level);
  result.metric_high = result.metric_joint + std::hypot(up, level);
  if (!estimator.smaller_is_better()) result.metric_high = std::min(result.metric_high, 1.0);
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
  result.optimisation = study.prediction.optimisation / study.best;
  result.drift = study.prediction.drift / study.best;
  result.privacy = (study.prediction.excess - study.prediction.optimisation) / study.best;
  result.statistical_gain = sampling - gain;
  result.mean = study.prediction.excess / study.best + sampling;
  result.pilot_only = study.game.spread() * (1 / study.facts.count() + 1 / n);
}

void add_distance(Forecast& result, const Study& study) {
  constexpr size_t kModels = 300;
  const OutputDistribution& distribution = study.prediction.distribution;
  const std::vector<double>& best = study.facts.optimum.theta;
  double square = 0;
  for (size_t j = 0; j < best.size(); ++j)
    square += std::pow(distribution.mean[j] - best[j], 2) +
              distribution.covariance[j * (best.size() + 1)];
  result.distance_root = std::sqrt(square);
  for (const auto& model : models_of(distribution, study.facts.box, kModels)) {
    double off = 0;
    for (size_t j = 0; j < best.size(); ++j) off += std::pow(model[j] - best[j], 2);
    result.distance += std::sqrt(off) / kModels;
  }
}

void add_metrics(Forecast& result, const Study& study, const MetricEstimator& estimator) {
  result.metric = estimator.name();
  result.target_column = study.charter.schema.target.column;
  result.metric_best = estimator.of_rows(0);
  result.metric_joint = estimator.at(study.prediction.distribution);
  result.metric_pilot = estimator.of_rows(1 / study.facts.count() + 1 / study.rows);
}

bool surely(const Forecast& result, double local_only, double own) {
  const double joint = std::log(result.high / result.low) / (2 * kNormal);
  return std::fabs(std::log(result.mean / local_only)) > kNormal * std::hypot(joint, own);
}

}  // namespace parley::forecast
