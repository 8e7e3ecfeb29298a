#include "parley/forecast/expect/quadrature.h"

#include <Eigen/Eigenvalues>
#include <cmath>

namespace parley::forecast {
namespace {

/// Nodes are eigenvalues of the Jacobi matrix (Golub, Welsch 1969).
Quadrature make_quadrature(int points) {
  Eigen::MatrixXd jacobi = Eigen::MatrixXd::Zero(points, points);
  for (int k = 1; k < points; ++k)
    jacobi(k, k - 1) = jacobi(k - 1, k) = std::sqrt(static_cast<double>(k));
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(jacobi);
  Quadrature rule;
  for (int k = 0; k < points; ++k) {
    rule.nodes.push_back(solver.eigenvalues()[k]);
    rule.weights.push_back(std::pow(solver.eigenvectors()(0, k), 2));
  }
  return rule;
}

}  // namespace

const Quadrature& quadrature_for(double deviation) {
  static const Quadrature one = make_quadrature(1), few = make_quadrature(5),
                          some = make_quadrature(9), all = make_quadrature(15);
  if (deviation < 1e-6) return one;
  if (deviation < .25) return few;
  return deviation < .6 ? some : all;
}

}  // namespace parley::forecast
