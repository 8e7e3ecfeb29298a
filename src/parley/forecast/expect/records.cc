#include "parley/forecast/expect/records.h"

#include <Eigen/Core>
#include <algorithm>
#include <vector>

#include "parley/base/memory/parallel.h"
#include "parley/forecast/expect/expected_slopes.h"
#include "parley/forecast/propagate/block_products.h"

namespace parley::forecast {
namespace {

using Index = Eigen::Index;
using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Sums are made over so many pieces of the rows and added in order, on any number of threads.
constexpr size_t kRecordPieces = 4;
constexpr Index kRecordBlock = 256;

size_t whole(size_t columns) { return (columns + kTogether - 1) / kTogether * kTogether; }

/// Of one piece of the rows: sums, and room to work in.
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

/// Where all records are looked from.
struct Seen {
  Eigen::VectorXf mean{};
  Rows spread{};  // the upper triangle of the covariance, twice beside the diagonal; or empty
  bool curvature = false;
};

}  // namespace

class Records::Blocks {
 public:
  explicit Blocks(const Estimated& by);
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

Records::Blocks::Blocks(const Estimated& by)
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

Records::Records(const Estimated& by) : blocks_(std::make_unique<const Blocks>(by)) {}
Records::~Records() = default;

Vector Records::slope(const Vector& mean, const Matrix& covariance, Matrix* curvature) const {
  return blocks_->slope(mean, covariance, curvature);
}

}  // namespace parley::forecast
