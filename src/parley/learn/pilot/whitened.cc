#include "parley/learn/pilot/whitened.h"

#include <algorithm>
#include <cmath>

#include "parley/base/math/eigen.h"
#include "parley/base/result.h"

namespace parley::learn {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const Matrix> square(std::span<const double> values, size_t p) {
  check(values.size() == p * p);
  const auto n = static_cast<Eigen::Index>(p);
  return {values.data(), n, n};
}

/// Rows [begin, end) of a matrix whose rows are padded.
Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> block_of(const data::Rows& rows, size_t begin,
                                                           size_t end) {
  return {rows.values() + begin * rows.stride(), static_cast<Eigen::Index>(end - begin),
          static_cast<Eigen::Index>(rows.columns()),
          Eigen::OuterStride<>(static_cast<Eigen::Index>(rows.stride()))};
}

/// Adds a part of W' z: that of one number of z, in the order of columns.
void add_part(double value, const double* row, std::vector<double>& sum) {
  for (size_t k = 0; k < sum.size(); ++k) sum[k] = std::fma(value, row[k], sum[k]);
}

std::vector<double> whitened(const std::vector<double>& root, const data::Rows& rows, size_t i) {
  const auto z = rows.row(i);
  std::vector<double> found(z.size());
  for (size_t j = 0; j < z.size(); ++j) add_part(z[j], &root[j * z.size()], found);
  return found;
}

std::vector<double> whitened(const std::vector<double>& root, const data::SparseRows& rows,
                             size_t i) {
  std::vector<double> found(rows.columns());
  const auto at = rows.row_indices(i);
  for (size_t k = 0; k < at.size(); ++k)
    add_part(rows.row_values(i)[k], &root[at[k] * found.size()], found);
  return found;
}

/// Turns the coordinates of W' v so that the first is that of the unit vector of `bias`, which is
/// row `bias` of H W: a reflection that maps its direction to the first axis.
void turn(Matrix& root, const Matrix& back, size_t bias) {
  Eigen::VectorXd axis = back.row(static_cast<Eigen::Index>(bias)).transpose();
  if (!(axis.norm() > 0)) return;
  axis /= axis.norm();
  axis[0] -= 1;
  if (!(axis.norm() > 0)) return;
  axis /= axis.norm();
  root -= 2 * (root * axis) * axis.transpose();
}

}  // namespace

Whitened::Whitened(std::span<const double> hessian, size_t columns, std::optional<size_t> bias)
    : columns_(columns) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(Matrix(square(hessian, columns)));
  Eigen::VectorXd inverse = solver.eigenvalues();
  const double least = 1e-10 * inverse.maxCoeff();
  for (double& h : inverse) h = h > least && h > 0 ? 1 / std::sqrt(h) : 0;
  Matrix root = solver.eigenvectors() * inverse.asDiagonal();
  if (bias) turn(root, square(hessian, columns) * root, *bias);
  const Matrix back = square(hessian, columns) * root;
  root_.assign(root.data(), root.data() + root.size());
  back_.assign(back.data(), back.data() + back.size());
}

double Whitened::length(std::span<const double> vector) const {
  check(vector.size() == columns_);
  const Eigen::Map<const Eigen::VectorXd> v(vector.data(),
                                            static_cast<Eigen::Index>(vector.size()));
  return (square(root_, columns_).transpose() * v).norm();
}

std::vector<double> Whitened::lengths(const data::Rows& rows) const {
  constexpr size_t kBlock = 256;  // The product of a block stays in the cache.
  std::vector<double> found;
  found.reserve(rows.size());
  for (size_t begin = 0; begin < rows.size(); begin += kBlock) {
    const size_t end = std::min(begin + kBlock, rows.size());
    const Matrix product = block_of(rows, begin, end) * square(root_, columns_);
    const Eigen::VectorXd norms = product.rowwise().norm();
    found.insert(found.end(), norms.begin(), norms.end());
  }
  return found;
}

double Whitened::trace(std::span<const double> matrix) const {
  const auto root = square(root_, columns_);
  return (square(matrix, columns_) * root).cwiseProduct(root).sum();
}

data::AnyRows Whitened::rows(const data::AnyRows& rows) const {
  check(data::columns_of(rows) == columns_);
  auto found = std::make_shared<data::Rows>(columns_);
  found->reserve(data::size_of(rows));
  std::visit(
      [&](const auto& kind) {
        for (size_t i = 0; i < kind->size(); ++i)
          found->add(whitened(root_, *kind, i), kind->label(i));
      },
      rows);
  return std::shared_ptr<const data::Rows>(std::move(found));
}

/// With W W' the inverse of H, (theta' H W) . (W' z) = theta . z.
std::vector<double> Whitened::point(std::span<const double> theta) const {
  check(theta.size() == columns_);
  std::vector<double> found(columns_);
  for (size_t j = 0; j < columns_; ++j)
    for (size_t k = 0; k < columns_; ++k) found[k] += back_[j * columns_ + k] * theta[j];
  return found;
}

std::vector<double> left_out_scores(const Losses& loss, const data::Rows& rows,
                                    std::span<const double> hessian, std::vector<double> scores) {
  const auto lengths = Whitened(hessian, rows.columns()).lengths(rows);
  const auto n = static_cast<double>(rows.size());
  std::visit(
      [&](const auto& known) {
        for (size_t i = 0; i < scores.size(); ++i) {
          const double h = lengths[i] * lengths[i] / n, u = scores[i], y = rows.label(i);
          scores[i] += h * known.slope(u, y) / std::max(1 - h * known.curvature(u, y), .05);
        }
      },
      loss);
  return scores;
}

std::vector<double> scores_of(const data::Rows& rows, std::span<const double> theta) {
  std::vector<double> scores(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto z = rows.row(i);
    for (size_t j = 0; j < z.size(); ++j) scores[i] += z[j] * theta[j];
  }
  return scores;
}

std::vector<double> slopes_of(const Losses& loss, const data::Rows& rows,
                              std::span<const double> scores) {
  std::vector<double> slopes(rows.size());
  std::visit(
      [&](const auto& known) {
        for (size_t i = 0; i < rows.size(); ++i) slopes[i] = known.slope(scores[i], rows.label(i));
      },
      loss);
  return slopes;
}

double mean_loss_of(const Losses& loss, const data::Rows& rows, std::span<const double> scores) {
  double sum = 0;
  std::visit(
      [&](const auto& known) {
        for (size_t i = 0; i < rows.size(); ++i) sum += known.value(scores[i], rows.label(i));
      },
      loss);
  return sum / static_cast<double>(rows.size());
}

std::vector<double> mean_of(const data::Rows& rows, std::span<const double> factors) {
  std::vector<double> mean(rows.columns());
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto z = rows.row(i);
    for (size_t j = 0; j < z.size(); ++j) mean[j] += factors[i] * z[j];
  }
  for (double& value : mean) value /= static_cast<double>(rows.size());
  return mean;
}

}  // namespace parley::learn
