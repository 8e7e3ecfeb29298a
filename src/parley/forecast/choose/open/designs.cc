#include "parley/forecast/choose/open/designs.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/forecast/choose/clips.h"
#include "parley/forecast/jobs.h"
#include "parley/forecast/joint.h"

namespace parley::forecast {
namespace {

using charter::Charter;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Of every row, the mean over two scores.
std::vector<double> mean_losses(const PilotStatistics& statistics, std::span<const double> one,
                                std::span<const double> other) {
  std::vector<double> losses;
  std::visit(
      [&](const auto& loss) {
        for (size_t i = 0; i < statistics.rows->size(); ++i) {
          const double y = statistics.rows->label(i);
          losses.push_back((loss.value(one[i], y) + loss.value(other[i], y)) / 2);
        }
      },
      statistics.loss);
  return losses;
}

double squares(const std::vector<double>& theta) {
  double sum = 0;
  for (const double value : theta) sum += value * value;
  return sum;
}

/// (1/2) tr(H_f H_c^-2), l2 inside the second only.
double noise_gain(const PilotStatistics& statistics, const std::vector<double>& inverse) {
  const auto p = static_cast<Eigen::Index>(statistics.dimension());
  const Eigen::Map<const Matrix> hessian(statistics.hessian.data(), p, p);
  const Eigen::Map<const Matrix> inverted(inverse.data(), p, p);
  const Matrix square = inverted * inverted;
  return (hessian.cwiseProduct(square).sum() - statistics.l2 * square.trace()) / 2;
}

}  // namespace

Result<SharedDesign> design_of(const Charter& charter, const FeatureSet& features, double l2,
                               int threads) {
  charter::Model model = charter.model;
  model.l2 = l2;
  auto design = std::make_shared<Design>();
  design->features = &features;
  design->l2 = l2;
  design->statistics = statistics_of(model, features.rows, threads);
  const PilotScores scores = pilot_scores(design->statistics, threads);
  design->metric =
      TRY(pilot_metric(design->statistics, scores, measure_of(charter, design->statistics),
                       charter.schema.target.scale));
  design->losses = mean_losses(design->statistics, scores.in_sample, scores.left_out);
  for (const double loss : mean_losses(design->statistics, scores.left_out, scores.left_out))
    design->left_out += loss / design->statistics.count();
  return SharedDesign(std::move(design));
}

std::optional<ClippedDesign> clipped_design(const SharedDesign& design, const Way& way,
                                            double share) {
  const PilotStatistics& statistics = design->statistics;
  const double clip = clip_at(way.charter, statistics, share);
  const auto near = clipped_at(way.charter, statistics, clip);
  if (!near) return std::nullopt;
  const double shorter = squares(statistics.optimum.theta) - squares(near->theta);
  return ClippedDesign{design, clip, near->bias + design->l2 / 2 * shorter,
                       noise_gain(statistics, near->inverse)};
}

double ClippedDesign::criterion(const Way& way, int64_t rounds) const {
  const PilotStatistics& statistics = design->statistics;
  const auto r = static_cast<double>(rounds);
  const auto p = static_cast<double>(statistics.dimension());
  const double noise = way.variance(rounds) * clip * clip * noise_gain / r;
  const double unfinished =
      statistics.sampling / statistics.count() * std::min(1.0, 2 * p / statistics.count()) / r;
  return design->metric.loss + bias + statistics.sampling / owners_rows(way.charter) + noise +
         unfinished;
}

double ClippedDesign::criterion(const Way& way) const {
  double least = std::numeric_limits<double>::infinity();
  for (const int64_t rounds : {1, 2, 4}) least = std::min(least, criterion(way, rounds));
  return least;
}

double paired_error(const Design& one, const Design& other) {
  const auto n = static_cast<double>(std::min(one.losses.size(), other.losses.size()));
  double sum = 0, square = 0;
  for (size_t i = 0; i < one.losses.size() && i < other.losses.size(); ++i) {
    const double difference = one.losses[i] - other.losses[i];
    sum += difference, square += difference * difference;
  }
  return std::sqrt(std::max(square / n - sum / n * (sum / n), 0.0) / n);
}

bool too_few_rows(const Design& design) {
  const auto p = static_cast<double>(design.statistics.dimension());
  return p > design.statistics.count() / 20 || rows_per_column(design.statistics) < kRowsPerColumn;
}

}  // namespace parley::forecast
