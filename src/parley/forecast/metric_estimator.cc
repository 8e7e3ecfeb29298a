#include "parley/forecast/metric_estimator.h"

#include <algorithm>
#include <cmath>

#include "parley/forecast/jobs.h"
#include "parley/forecast/uncertainty.h"
#include "parley/learn/metrics.h"

namespace parley::forecast {
namespace {

double auc_of(const data::Rows& rows, const std::vector<double>& theta) {
  std::vector<double> scores;
  for (size_t i = 0; i < rows.size(); ++i) {
    double score = 0;
    for (size_t j = 0; j < theta.size(); ++j) score += rows.row(i)[j] * theta[j];
    scores.push_back(score);
  }
  return learn::auc(scores, {rows.labels(), rows.size()}).value_or(.5);
}

/// What noise takes of the area under the curve: expected, minus that of the middle.
double auc_moved(const PilotStatistics& statistics, const OutputDistribution& distribution) {
  constexpr size_t kModels = 20, kRows = 2500;
  const auto rows =
      part_of(*statistics.rows, 0, std::max<size_t>(1, statistics.rows->size() / kRows));
  double sum = 0;
  for (const auto& model : models_of(distribution, statistics.box, kModels))
    sum += auc_of(*rows, model);
  return sum / kModels - auc_of(*rows, distribution.mean);
}

/// How much the area under the curve of all rows' optimum on these rows exceeds the best possible:
/// half of what a model loses on other rows than its own, which falls with the number of rows.
double optimism(const std::vector<PilotStatistics>& parts) {
  double lost = 0;
  for (size_t k = 0; k < parts.size(); ++k)
    lost += auc_of(*parts[k].rows, parts[k].optimum.theta) -
            auc_of(*parts[(k + 1) % parts.size()].rows, parts[k].optimum.theta);
  const auto count = static_cast<double>(parts.size());
  return parts.empty() ? 0 : std::max(lost / count, 0.0) / 2 / count;
}

/// Hanley and McNeil 1982.
double auc_error(double auc, double positives, double negatives) {
  const double q1 = auc / (2 - auc), q2 = 2 * auc * auc / (1 + auc);
  return std::sqrt(
      (auc * (1 - auc) + (positives - 1) * (q1 - auc * auc) + (negatives - 1) * (q2 - auc * auc)) /
      (positives * negatives));
}

}  // namespace

MetricEstimator::MetricEstimator(const charter::Charter& charter, const PilotStatistics& statistics,
                                 const std::vector<PilotStatistics>& parts, int threads)
    : statistics_(statistics),
      name_(charter.schema.target.levels.empty() ? "rmse" : "auc"),
      scale_(charter.schema.target.scale),
      correction_(std::holds_alternative<learn::Squared>(statistics.loss)
                      ? statistics.fitness(owners_rows(charter)) - statistics.optimum.fitness
                      : 0),
      flattery_(name_ == "auc" ? optimism(parts) : 0),
      threads_(threads) {
  const size_t p = statistics.dimension();
  best_ = at({statistics.optimum.theta, std::vector<double>(p * p)});
  double largest = 0;  // The smallest owner: what is nearer is nearly a line.
  for (const auto& owner : charter.owners)
    largest = std::max(largest, 1 / static_cast<double>(owner.rows));
  OutputDistribution own{statistics.optimum.theta, statistics.spread};
  for (double& value : own.covariance) value *= largest;
  slope_ = (at(own) - best_) / largest;
  if (name_ == "rmse") {
    error_ =
        scale_ * scale_ * statistics.loss_deviation / (2 * best_ * std::sqrt(statistics.count()));
    return;
  }
  double positives = 0;
  for (size_t i = 0; i < statistics.rows->size(); ++i) positives += statistics.rows->label(i) > 0;
  if (positives > 0 && positives < statistics.count())
    error_ = auc_error(best_, positives, statistics.count() - positives);
}

double MetricEstimator::at(const OutputDistribution& distribution) const {
  if (name_ == "rmse") return scale_ * std::sqrt(squared(distribution));
  const bool moves = std::any_of(distribution.covariance.begin(), distribution.covariance.end(),
                                 [](double value) { return value != 0; });
  return auc_of(*statistics_.rows, distribution.mean) - flattery_ +
         (moves ? auc_moved(statistics_, distribution) : 0);
}

double MetricEstimator::squared(const OutputDistribution& distribution) const {
  if (statistics_.moments)
    return std::max(squares_at(statistics_, distribution) + correction_, 0.0);
  const Estimated how{.rows = *statistics_.rows, .loss = learn::Squared{}, .threads = threads_};
  return std::max(at_output(how, distribution).fitness, 0.0);
}

}  // namespace parley::forecast
