#include "parley/forecast/predict/records.h"

#include <algorithm>

#include "parley/base/parallel.h"

namespace parley::forecast {
namespace {

using Index = Eigen::Index;

/// Sums are made over so many pieces of the rows and added in order, on any number of threads.
constexpr size_t kPieces = 4;
constexpr Index kBlock = 256;

}  // namespace

Records::Records(const Judged& by) : loss_(by.loss), threads_(by.threads) {
  const size_t count = (by.rows.size() + by.stride - 1) / by.stride;
  const auto p = static_cast<Index>(by.rows.columns());
  z_.resize(static_cast<Index>(count), p);
  labels_.resize(z_.rows());
  limits_.resize(z_.rows());
  for (size_t k = 0; k < count; ++k) {
    const auto i = static_cast<Index>(k);
    const auto row = by.rows.row(k * by.stride);
    z_.row(i) = Eigen::Map<const Vector>(row.data(), p).cast<float>();
    labels_[i] = static_cast<float>(by.rows.label(k * by.stride));
    limits_[i] = static_cast<float>(
        std::min(slope_limit(by.norm, by.limit, row), static_cast<double>(kNoSlopeLimit)));
  }
}

template <class Loss>
void Records::add_block(const Loss& loss, Index at, Index count, const Eigen::VectorXf& mean,
                        const Rows& covariance, Derivatives& sum) const {
  const auto block = z_.middleRows(at, count);
  const Floats scores = (block * mean).array();
  Floats deviations = Floats::Zero(count);
  if (covariance.size() > 0) {
    const Rows spread = block * covariance;
    deviations = spread.cwiseProduct(block).rowwise().sum().array().max(0).sqrt();
  }
  const SlopeBlock found = expected_slopes(
      loss, {scores, deviations, labels_.segment(at, count), limits_.segment(at, count)});
  sum.slope += (block.transpose() * found.slope.matrix()).template cast<double>();
  if (sum.curvature.size() == 0) return;
  const Rows bent = found.curvature.matrix().asDiagonal() * block;
  const Rows product = block.transpose() * bent;
  sum.curvature += product.template cast<double>();
}

Derivatives Records::derivatives(const Vector& mean, const Matrix& covariance,
                                 bool curvature) const {
  const Index p = z_.cols(), side = curvature ? p : 0;
  const Eigen::VectorXf at = mean.cast<float>();
  const Rows spread = covariance.cast<float>();
  std::vector<Derivatives> parts(kPieces, {Vector::Zero(p), Matrix::Zero(side, side)});
  const auto all = static_cast<Index>(size());
  std::visit(
      [&](const auto& loss) {
        in_parallel(threads_, kPieces, [&](size_t, size_t first, size_t last) {
          for (size_t k = first; k < last; ++k) {
            const Index end = all * static_cast<Index>(k + 1) / static_cast<Index>(kPieces);
            for (Index i = all * static_cast<Index>(k) / static_cast<Index>(kPieces); i < end;
                 i += kBlock)
              add_block(loss, i, std::min(kBlock, end - i), at, spread, parts[k]);
          }
        });
      },
      loss_);
  for (size_t k = 1; k < kPieces; ++k) {
    parts[0].slope += parts[k].slope;
    parts[0].curvature += parts[k].curvature;
  }
  parts[0].slope /= static_cast<double>(all);
  parts[0].curvature /= static_cast<double>(all);
  return parts[0];
}

}  // namespace parley::forecast
