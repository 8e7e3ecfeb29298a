#include "parley/data/transforms/principal.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace parley::data {
namespace {

/// (u, v) <- (c u - s v, s u + c v).
void turn(double& u, double& v, double c, double s) {
  const double old = u;
  u = c * old - s * v;
  v = s * old + c * v;
}

/// Turns the axes p and q so that a(p, q) becomes 0; `axes` collects the turns in its columns.
void turn_axes(Square& a, Square& axes, size_t p, size_t q) {
  const double ratio = (a(q, q) - a(p, p)) / (2 * a(p, q));
  const double tangent =
      std::copysign(1 / (std::fabs(ratio) + std::sqrt(ratio * ratio + 1)), ratio);
  const double c = 1 / std::sqrt(tangent * tangent + 1), s = tangent * c;
  for (size_t i = 0; i < a.n; ++i) turn(a(i, p), a(i, q), c, s);
  for (size_t i = 0; i < a.n; ++i) turn(a(p, i), a(q, i), c, s);
  for (size_t i = 0; i < a.n; ++i) turn(axes(i, p), axes(i, q), c, s);
}

double off_diagonal(const Square& a) {
  double sum = 0;
  for (size_t i = 0; i < a.n; ++i)
    for (size_t j = 0; j < i; ++j) sum += a(i, j) * a(i, j);
  return sum;
}

/// Jacobi's method, cyclic: leaves the eigenvalues on the diagonal of `a`, returns the eigenvectors
/// as columns. Converges quadratically, so 30 sweeps are far more than it takes.
Square diagonalise(Square& a) {
  Square axes{a.n};
  for (size_t i = 0; i < a.n; ++i) axes(i, i) = 1;
  for (int sweep = 0; sweep < 30 && off_diagonal(a) > 1e-28; ++sweep)
    for (size_t p = 0; p < a.n; ++p)
      for (size_t q = p + 1; q < a.n; ++q)
        if (a(p, q) != 0) turn_axes(a, axes, p, q);
  return axes;
}

std::vector<size_t> largest_first(const Square& diagonal) {
  std::vector<size_t> order(diagonal.n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t i, size_t j) { return diagonal(i, i) > diagonal(j, j); });
  return order;
}

double largest_entry(const Square& axes, size_t k) {
  double largest = 0;
  for (size_t i = 0; i < axes.n; ++i)
    if (std::fabs(axes(i, k)) > std::fabs(largest)) largest = axes(i, k);
  return largest;
}

}  // namespace

std::vector<double> mean_of(std::span<const double> rows, size_t columns) {
  std::vector<double> mean(columns);
  for (size_t i = 0; i < rows.size(); ++i) mean[i % columns] += rows[i];
  for (double& value : mean) value /= static_cast<double>(rows.size() / columns);
  return mean;
}

Square scatter_of(std::span<const double> rows, const std::vector<double>& mean) {
  Square sums{mean.size()};
  std::vector<double> centred(mean.size());
  for (; !rows.empty(); rows = rows.subspan(mean.size())) {
    for (size_t i = 0; i < mean.size(); ++i) centred[i] = rows[i] - mean[i];
    for (size_t i = 0; i < mean.size(); ++i)
      for (size_t j = 0; j < mean.size(); ++j) sums(i, j) += centred[i] * centred[j];
  }
  return sums;
}

PrincipalAxes principal_axes(Square matrix) {
  const Square axes = diagonalise(matrix);
  PrincipalAxes result;
  for (size_t k : largest_first(matrix)) {
    result.values.push_back(matrix(k, k));
    const double sign = std::copysign(1.0, largest_entry(axes, k));
    for (size_t i = 0; i < axes.n; ++i) result.vectors.push_back(sign * axes(i, k));
  }
  return result;
}

}  // namespace parley::data
