#include "parley/forecast/joint.h"

#include <algorithm>
#include <cmath>

#include "parley/forecast/uncertainty.h"

namespace parley::forecast {
namespace {

/// The relative half width of a 90 % interval of a mean of five (Student's t, four degrees).
constexpr double kStudent = 2.132;

}  // namespace

Measure measure_of(const charter::Charter& charter, const PilotStatistics& statistics) {
  const bool classes = !charter.schema.target.levels.empty() || learn::two_classes(statistics.loss);
  return classes ? Measure::kAuc : Measure::kRmse;
}

void add_band(Forecast& result, const Study& study, double error) {
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
  const double one = study.metric_at(psi.low), other = study.metric_at(psi.high);
  const double level = kNormal * study.metric.error;
  const double down = std::hypot(metric.joint - std::min(one, other), level);
  const double up = std::hypot(std::max(one, other) - metric.joint, level);
  metric.low = study.metric.within(metric.joint - down);
  metric.high = study.metric.within(metric.joint + up);
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

void add_metrics(Forecast& result, const Study& study) {
  const RelativeFitness& psi = result.relative_fitness;
  result.metric.name = name_of(study.metric.measure);
  result.metric.best = study.metric.at(0);
  result.metric.joint = study.metric_at(psi.mean);
  result.metric.pilot_only = study.metric.at(study.statistics.sampling / study.statistics.count());
}

}  // namespace parley::forecast
