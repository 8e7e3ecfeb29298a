#include "parley/learn/statistics.h"

#include <algorithm>
#include <cmath>

#include "parley/base/result.h"
#include "parley/learn/solver/box.h"
#include "parley/learn/solver/symmetric.h"

namespace parley::learn {
namespace {

/// Of the matrix whose upper triangle comes first, eigenvalues below `floor` raised to it.
Spectrum floored(std::span<const double> moments, size_t p, double floor) {
  std::vector<double> matrix(p * p);
  size_t next = 0;
  for (size_t j = 0; j < p; ++j)
    for (size_t k = j; k < p; ++k) matrix[j * p + k] = moments[next++];
  Spectrum found = spectrum(matrix, p);
  for (double& value : found.values) value = std::max(value, floor);
  return found;
}

}  // namespace

std::vector<double> gram_inverse(std::span<const double> moments, size_t columns, double curvature,
                                 double l2, double floor) {
  check(moments.size() >= columns * (columns + 1) / 2 && floor > 0 && curvature > 0);
  Spectrum found = floored(moments, columns, floor);
  for (double& value : found.values) value = 1 / (curvature * value + l2);
  return sum_of_squares(found.values, found.vectors);
}

std::vector<double> moments_minimum(std::span<const double> moments, size_t columns, double l2,
                                    double floor, double box) {
  check(moments.size() == columns * (columns + 3) / 2 && floor > 0);
  const Spectrum found = floored(moments, columns, floor);
  std::vector<double> hessian = sum_of_squares(found.values, found.vectors);
  for (double& value : hessian) value *= 2;
  for (size_t j = 0; j < columns; ++j) hessian[j * (columns + 1)] += l2;
  std::vector<double> gradient;  // at 0
  for (double with_label : moments.last(columns)) gradient.push_back(-2 * with_label);
  const std::vector<double> start(columns);
  return newton_step(start, gradient, hessian, 0, box);
}

}  // namespace parley::learn
