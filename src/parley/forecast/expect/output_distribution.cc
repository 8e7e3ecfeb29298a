#include "parley/forecast/expect/output_distribution.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "parley/base/memory/parallel.h"
#include "parley/forecast/expect/gaussian_loss.h"

namespace parley::forecast {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using Index = Eigen::Index;

/// Sums are made over so many pieces of the rows and added in order, on any number of threads.
constexpr size_t kPieces = 8, kBlock = 256;

/// Whether no score at all would be clipped: the loss's slope is bounded by less than the limit.
bool never_clipped(const auto& loss, double limit) { return limit >= loss.lipschitz(); }

AtOutput of_record(const auto& loss, const Score& score, double limit) {
  const auto free = expected(loss, score);
  if (never_clipped(loss, limit)) return {free.value, 0};
  const auto held = expected(loss, score, limit);
  const bool less = held.curvature < free.curvature * (1 - 1e-9);
  return {free.value, less ? 1 - held.curvature / free.curvature : 0};
}

template <class Loss>
class Piece {
 public:
  Piece(const Estimated& by, const Loss& loss, const Vector& mean, const Matrix& covariance)
      : by_(by), loss_(loss), mean_(mean), covariance_(covariance) {}

  /// Sums over rows begin, begin + stride, ... before end, block by block.
  AtOutput sum(size_t begin, size_t end) const {
    AtOutput all;
    for (size_t at = begin; at < end; at += kBlock) {
      const AtOutput found = block(at, std::min(kBlock, end - at));
      all.fitness += found.fitness, all.clipped += found.clipped;
    }
    return all;
  }

 private:
  AtOutput block(size_t begin, size_t count) const {
    const auto far = static_cast<Index>(by_.rows.stride() * by_.stride);
    const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> z(
        by_.rows.values() + begin * by_.stride * by_.rows.stride(), static_cast<Index>(count),
        mean_.size(), Eigen::OuterStride<>(far));
    const Vector scores = z * mean_;
    Vector variances = Vector::Zero(z.rows());
    if (covariance_.size() > 0)
      variances = (z * covariance_).cwiseProduct(z).rowwise().sum().cwiseMax(0);
    AtOutput all;
    for (size_t i = 0; i < count; ++i) {
      const size_t row = (begin + i) * by_.stride;
      const auto at = static_cast<Index>(i);
      const double limit = slope_limit(by_.norm, by_.limit, by_.rows.row(row));
      const AtOutput found =
          of_record(loss_, {scores[at], std::sqrt(variances[at]), by_.rows.label(row)}, limit);
      all.fitness += found.fitness, all.clipped += found.clipped;
    }
    return all;
  }

  const Estimated& by_;
  const Loss& loss_;
  const Vector& mean_;
  const Matrix& covariance_;
};

}  // namespace

OutputDistribution distribution_of(const std::vector<std::vector<double>>& models) {
  const size_t p = models.front().size();
  const auto n = static_cast<double>(models.size());
  OutputDistribution distribution{std::vector<double>(p), std::vector<double>(p * p)};
  for (const auto& model : models)
    for (size_t j = 0; j < p; ++j) distribution.mean[j] += model[j] / n;
  for (const auto& model : models)
    for (size_t i = 0; i < p; ++i)
      for (size_t j = 0; j < p; ++j)
        distribution.covariance[i * p + j] +=
            (model[i] - distribution.mean[i]) * (model[j] - distribution.mean[j]) / n;
  return distribution;
}

double slope_limit(learn::ClipIn norm, double limit, std::span<const double> z) {
  if (norm == learn::ClipIn::kNone) return kNoLimit;
  double sum = 0;
  for (const double value : z) sum += norm == learn::ClipIn::kL1 ? std::fabs(value) : value * value;
  return sum == 0 ? kNoLimit : limit / (norm == learn::ClipIn::kL1 ? sum : std::sqrt(sum));
}

AtOutput at_output(const Estimated& by, const OutputDistribution& distribution) {
  const auto p = static_cast<Index>(by.rows.columns());
  const Vector mean = Eigen::Map<const Vector>(distribution.mean.data(), p);
  Matrix covariance = Eigen::Map<const Matrix>(distribution.covariance.data(), p, p);
  if (covariance.isZero(0)) covariance.resize(0, 0);
  const double trace = covariance.trace();
  const size_t count = (by.rows.size() + by.stride - 1) / by.stride;
  std::vector<AtOutput> parts(kPieces);
  std::visit(
      [&](const auto& loss) {
        const Piece piece(by, loss, mean, covariance);
        in_parallel(by.threads, kPieces, [&](size_t, size_t first, size_t last) {
          for (size_t k = first; k < last; ++k)
            parts[k] = piece.sum(count * k / kPieces, count * (k + 1) / kPieces);
        });
      },
      by.loss);
  AtOutput all;
  for (const AtOutput& part : parts) all.fitness += part.fitness, all.clipped += part.clipped;
  const auto n = static_cast<double>(count);
  return {all.fitness / n + by.l2 / 2 * (mean.squaredNorm() + trace), all.clipped / n};
}

}  // namespace parley::forecast
