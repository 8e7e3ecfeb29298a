#include <Eigen/Core>
#include <algorithm>
#include <vector>

#include "parley/base/math/avx2.h"
#include "parley/base/memory/parallel.h"
#include "parley/forecast/propagate/expected_loss.h"
#include "parley/forecast/propagate/propagation.h"

namespace parley::forecast {
namespace {

float sum_of(__m256 lanes) {
  const __m256 halves = lanes + __builtin_shufflevector(lanes, lanes, 4, 5, 6, 7, 0, 1, 2, 3);
  const __m256 pairs = halves + __builtin_shufflevector(halves, halves, 2, 3, 0, 1, 6, 7, 4, 5);
  return pairs[0] + pairs[1];
}

/// For kRows rows at a time, so that the matrix is read once for all of them.
template <int kRows>
void few_forms(const float* z, size_t stride, const float* upper, float* out) {
  __m256 all[kRows];
#pragma GCC unroll 8
  for (auto& one : all) one = _mm256_setzero_ps();
  for (size_t c = 0; c < stride; c += kTogether) {
    __m256 sum[kRows];
#pragma GCC unroll 8
    for (auto& one : sum) one = _mm256_setzero_ps();
    for (size_t j = 0; j < c + kTogether; ++j) {
      const __m256 part = _mm256_loadu_ps(upper + j * stride + c);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r)
        sum[r] = _mm256_fmadd_ps(_mm256_broadcast_ss(z + size_t(r) * stride + j), part, sum[r]);
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
      all[r] = _mm256_fmadd_ps(sum[r], _mm256_loadu_ps(z + size_t(r) * stride + c), all[r]);
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) out[r] = sum_of(all[r]);
}

/// g[r][c] += sum over rows of a_i[r] b_i[c] for 4 x 8 kWide entries.
template <int kWide>
void add_tile(const float* a, const float* b, size_t count, size_t stride, float* g) {
  __m256 sum[4][kWide], right[kWide];
#pragma GCC unroll 8
  for (auto& row : sum)
#pragma GCC unroll 8
    for (auto& part : row) part = _mm256_setzero_ps();
  for (size_t i = 0; i < count; ++i, a += stride, b += stride) {
#pragma GCC unroll 8
    for (int c = 0; c < kWide; ++c) right[c] = _mm256_loadu_ps(b + 8 * c);
#pragma GCC unroll 8
    for (int r = 0; r < 4; ++r) {
      const __m256 left = _mm256_broadcast_ss(a + r);
#pragma GCC unroll 8
      for (int c = 0; c < kWide; ++c) sum[r][c] = _mm256_fmadd_ps(left, right[c], sum[r][c]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < 4; ++r, g += stride)
#pragma GCC unroll 8
    for (int c = 0; c < kWide; ++c)
      _mm256_storeu_ps(g + 8 * c, _mm256_add_ps(_mm256_loadu_ps(g + 8 * c), sum[r][c]));
}

constexpr size_t kCached = 64;  // Rows of which two copies stay in the nearest cache.

void add_products(const FloatRows& rows, const float* weights, float* scratch, float* sum) {
  const size_t stride = rows.stride;
  for (size_t i = 0; i < rows.count; ++i) {
    const __m256 weight = _mm256_broadcast_ss(weights + i);
    for (size_t j = i * stride; j < (i + 1) * stride; j += kTogether)
      _mm256_storeu_ps(scratch + j, weight * _mm256_loadu_ps(rows.values + j));
  }
  for (size_t a = 0; a < stride; a += 4)
    for (size_t b = a / kTogether * kTogether; b < stride; b += 2 * kTogether) {
      const auto tile = b + 2 * kTogether <= stride ? add_tile<2> : add_tile<1>;
      tile(scratch + a, rows.values + b, rows.count, stride, sum + a * stride + b);
    }
}

}  // namespace

void quadratic_forms(const FloatRows& rows, const float* upper, float* out) {
  size_t i = 0;
  for (; i + 8 <= rows.count; i += 8)
    few_forms<8>(rows.values + i * rows.stride, rows.stride, upper, out + i);
  for (; i < rows.count; ++i)
    few_forms<1>(rows.values + i * rows.stride, rows.stride, upper, out + i);
}

void add_weighted_products(const FloatRows& rows, const float* weights, float* scratch,
                           float* sum) {
  for (size_t i = 0; i < rows.count; i += kCached) {
    const size_t count = std::min(kCached, rows.count - i);
    add_products({rows.values + i * rows.stride, count, rows.stride}, weights + i, scratch, sum);
  }
}

namespace {

using Index = Eigen::Index;
using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Sums over pieces of the rows are added in order, so that they do not depend on the threads.
constexpr size_t kRecordPieces = 4;
constexpr Index kRecordBlock = 256;

size_t whole(size_t columns) { return (columns + kTogether - 1) / kTogether * kTogether; }

/// Sums over one piece of the rows, and scratch space.
struct Sums {
  Sums(Index columns, bool with_curvature)
      : slope(Vector::Zero(columns)),
        curvature(Matrix::Zero(with_curvature ? columns : 0, columns)) {
    if (!with_curvature) return;
    scaled.resize(kRecordBlock, columns);
    block.resize(columns, columns);
  }
  Vector slope;
  Matrix curvature;
  Rows scaled{}, block{};
};

/// The distribution of the iterate, in single precision.
struct Seen {
  Eigen::VectorXf mean{};
  Rows spread{};  // the upper triangle of the covariance, twice beside the diagonal; or empty
  bool curvature = false;
};

}  // namespace

class Records::Blocks {
 public:
  explicit Blocks(const EstimatedOn& by);
  Vector slope(const Vector& mean, const Matrix& covariance, Matrix* curvature) const;

 private:
  template <class Loss>
  void add_block(const Loss& loss, Index at, Index count, const Seen& seen, Sums& sums) const;
  Seen seen_from(const Vector& mean, const Matrix& covariance, bool curvature) const;

  learn::Losses loss_;
  Index columns_;
  Rows z_{};  // with zeros to a whole number of kTogether columns
  Floats labels_{}, limits_{};
  int threads_;
};

Records::Blocks::Blocks(const EstimatedOn& by)
    : loss_(by.loss), columns_(static_cast<Index>(by.rows.columns())), threads_(by.threads) {
  const size_t count = (by.rows.size() + by.stride - 1) / by.stride;
  const Index p = columns_;
  z_.setZero(static_cast<Index>(count), static_cast<Index>(whole(by.rows.columns())));
  labels_.resize(z_.rows());
  limits_.resize(z_.rows());
  for (size_t k = 0; k < count; ++k) {
    const auto i = static_cast<Index>(k);
    const auto row = by.rows.row(k * by.stride);
    z_.row(i).head(p) = Eigen::Map<const Vector>(row.data(), p).cast<float>();
    labels_[i] = static_cast<float>(by.rows.label(k * by.stride));
    limits_[i] = static_cast<float>(
        std::min(slope_limit(by.norm, by.limit, row), static_cast<double>(kNoSlopeLimit)));
  }
}

Seen Records::Blocks::seen_from(const Vector& mean, const Matrix& covariance,
                                bool curvature) const {
  const Index p = columns_;
  Seen seen{.mean = Eigen::VectorXf::Zero(z_.cols()), .curvature = curvature};
  seen.mean.head(p) = mean.cast<float>();
  if (covariance.size() == 0) return seen;
  seen.spread = Rows::Zero(z_.cols(), z_.cols());
  for (Index i = 0; i < p; ++i) {
    seen.spread(i, i) = static_cast<float>(covariance(i, i));
    for (Index j = i + 1; j < p; ++j)
      seen.spread(i, j) = static_cast<float>(covariance(i, j) + covariance(j, i));
  }
  return seen;
}

template <class Loss>
void Records::Blocks::add_block(const Loss& loss, Index at, Index count, const Seen& seen,
                                Sums& sums) const {
  const auto block = z_.middleRows(at, count);
  const FloatRows rows{block.data(), static_cast<size_t>(count), static_cast<size_t>(z_.cols())};
  const Floats scores = (block * seen.mean).array();
  Floats deviations = Floats::Zero(count);
  if (seen.spread.size() > 0) {
    quadratic_forms(rows, seen.spread.data(), deviations.data());
    deviations = deviations.max(0).sqrt();
  }
  const Floats labels = labels_.segment(at, count), limits = limits_.segment(at, count);
  Floats slope, curvature;
  expected_slopes(loss, {scores, deviations, labels, limits}, {slope, curvature});
  sums.slope += (block.transpose() * slope.matrix()).template cast<double>();
  if (!seen.curvature) return;
  sums.block.setZero();
  add_weighted_products(rows, curvature.data(), sums.scaled.data(), sums.block.data());
  sums.curvature += sums.block.template cast<double>();
}

Vector Records::Blocks::slope(const Vector& mean, const Matrix& covariance,
                              Matrix* curvature) const {
  const Seen seen = seen_from(mean, covariance, curvature != nullptr);
  std::vector<Sums> parts(kRecordPieces, Sums(z_.cols(), seen.curvature));
  const Index all = labels_.size();
  std::visit(
      [&](const auto& loss) {
        in_parallel(threads_, kRecordPieces, [&](size_t, size_t first, size_t last) {
          for (size_t k = first; k < last; ++k) {
            const Index end = all * static_cast<Index>(k + 1) / static_cast<Index>(kRecordPieces);
            for (Index i = all * static_cast<Index>(k) / static_cast<Index>(kRecordPieces); i < end;
                 i += kRecordBlock)
              add_block(loss, i, std::min(kRecordBlock, end - i), seen, parts[k]);
          }
        });
      },
      loss_);
  for (size_t k = 1; k < kRecordPieces; ++k) {
    parts[0].slope += parts[k].slope;
    parts[0].curvature += parts[k].curvature;
  }
  const auto n = static_cast<double>(all);
  if (curvature != nullptr) {
    *curvature = parts[0].curvature.topLeftCorner(columns_, columns_) / n;
    curvature->triangularView<Eigen::StrictlyLower>() = curvature->transpose().eval();
  }
  return parts[0].slope.head(columns_) / n;
}

Records::Records(const EstimatedOn& by) : blocks_(std::make_unique<const Blocks>(by)) {}
Records::~Records() = default;

Vector Records::slope(const Vector& mean, const Matrix& covariance, Matrix* curvature) const {
  return blocks_->slope(mean, covariance, curvature);
}

}  // namespace parley::forecast
