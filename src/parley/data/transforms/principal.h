// Principal components of public rows by Jacobi's method in plain arithmetic. No library is used,
// so that the result has the same bits on every machine.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace parley::data {

/// A square matrix, row by row.
struct Square {
  size_t n;
  std::vector<double> entries = std::vector<double>(n * n);
  double& operator()(size_t i, size_t j) { return entries[i * n + j]; }
  double operator()(size_t i, size_t j) const { return entries[i * n + j]; }
};

// `rows` lie one after the other, as many numbers each as there are columns.
std::vector<double> mean_of(std::span<const double> rows, size_t columns);
/// Sums of squares and products about the mean.
Square scatter_of(std::span<const double> rows, const std::vector<double>& mean);

struct PrincipalAxes {
  std::vector<double> values;   // variances along the axes, largest first
  std::vector<double> vectors;  // one axis after the other, of length 1, largest entry positive
};

/// Of a symmetric matrix.
PrincipalAxes principal_axes(Square matrix);

}  // namespace parley::data
