#include "parley/learn/pilot/whitened.h"

#include <algorithm>
#include <cmath>

#include "parley/base/result.h"
#include "parley/learn/solver/symmetric.h"

namespace parley::learn {
namespace {

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

/// Turns the coordinates of W' v so that the first is that of the unit vector of the bias, whose
/// row of H W is `axis`: a reflection that maps its direction to the first axis.
void turn(std::vector<double>& root, std::vector<double> axis) {
  const auto to_unit = [&] {
    const double length = length_of(axis);
    if (!(length > 0)) return false;
    for (double& value : axis) value /= length;
    return true;
  };
  if (!to_unit()) return;
  axis[0] -= 1;
  if (!to_unit()) return;
  const std::vector<double> along = times(root, axis);
  for (size_t i = 0; i < along.size(); ++i)
    for (size_t j = 0; j < axis.size(); ++j) root[i * axis.size() + j] -= 2 * along[i] * axis[j];
}

}  // namespace

Whitened::Whitened(std::span<const double> hessian, size_t columns, std::optional<size_t> bias)
    : columns_(columns) {
  check(hessian.size() == columns * columns);
  const Spectrum found = spectrum(hessian, columns);
  const double least = 1e-10 * found.values.back();
  root_.resize(columns * columns);
  for (size_t k = 0; k < columns; ++k) {
    const double h = found.values[k], scale = h > least && h > 0 ? 1 / std::sqrt(h) : 0;
    for (size_t j = 0; j < columns; ++j)
      root_[j * columns + k] = scale * found.vectors[k * columns + j];
  }
  if (bias) turn(root_, product(hessian.subspan(*bias * columns, columns), root_, columns));
  back_ = product(hessian, root_, columns);
}

double Whitened::length(std::span<const double> vector) const {
  check(vector.size() == columns_);
  return length_of(product(vector, root_, columns_));
}

std::vector<double> Whitened::lengths(const data::Rows& rows) const {
  std::vector<double> found;
  found.reserve(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) found.push_back(length(rows.row(i)));
  return found;
}

double Whitened::trace(std::span<const double> matrix) const {
  check(matrix.size() == columns_ * columns_);
  return dot(product(matrix, root_, columns_), root_);
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
