#include "parley/learn/statistics.h"

#include <algorithm>
#include <cmath>

#include "parley/base/math/eigen.h"
#include "parley/base/result.h"
#include "parley/learn/solver/box.h"

namespace parley::learn {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix from_triangle(std::span<const double> moments, Eigen::Index p) {
  Matrix matrix(p, p);
  size_t next = 0;
  for (Eigen::Index j = 0; j < p; ++j)
    for (Eigen::Index k = j; k < p; ++k) matrix(j, k) = matrix(k, j) = moments[next++];
  return matrix;
}

}  // namespace

std::vector<double> gram_inverse(std::span<const double> moments, size_t columns, double curvature,
                                 double l2, double floor) {
  const auto p = static_cast<Eigen::Index>(columns);
  check(moments.size() >= columns * (columns + 1) / 2 && floor > 0 && curvature > 0);
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(from_triangle(moments, p));
  const Eigen::VectorXd values = (curvature * solver.eigenvalues().cwiseMax(floor)).array() + l2;
  const Matrix& vectors = solver.eigenvectors();
  const Matrix result = vectors * values.cwiseInverse().asDiagonal() * vectors.transpose();
  return {result.data(), result.data() + result.size()};
}

std::vector<double> moments_minimum(std::span<const double> moments, size_t columns, double l2,
                                    double floor, double box) {
  const auto p = static_cast<Eigen::Index>(columns);
  check(moments.size() == columns * (columns + 3) / 2 && floor > 0);
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(from_triangle(moments, p));
  const Eigen::VectorXd values = solver.eigenvalues().cwiseMax(floor);
  const Matrix& vectors = solver.eigenvectors();
  Matrix hessian = 2 * (vectors * values.asDiagonal() * vectors.transpose());
  hessian.diagonal().array() += l2;
  std::vector<double> gradient;  // at 0
  for (double with_label : moments.last(columns)) gradient.push_back(-2 * with_label);
  const std::vector<double> start(columns);
  return newton_step(start, gradient, {hessian.data(), size_t(hessian.size())}, 0, box);
}

}  // namespace parley::learn
