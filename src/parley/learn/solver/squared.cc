#include <algorithm>
#include <cmath>

#include "parley/learn/solver/box.h"
#include "parley/learn/solver/solvers.h"
#include "parley/learn/solver/symmetric.h"

namespace parley::learn {
namespace {

struct Quadratic {
  const Moments& moments;
  double l2;

  double value(std::span<const double> theta) const {
    double squares = 0;
    for (double x : theta) squares += x * x;
    return moments.value(theta) + l2 / 2 * squares;
  }
  std::vector<double> gradient(std::span<const double> theta) const {
    std::vector<double> result = moments.gradient(theta);
    for (size_t j = 0; j < theta.size(); ++j) result[j] += l2 * theta[j];
    return result;
  }
  std::vector<double> hessian() const {
    const size_t p = moments.columns();
    std::vector<double> matrix(p * p);
    for (size_t i = 0; i < p; ++i)
      for (size_t j = 0; j < p; ++j) matrix[i * p + j] = 2 * moments.product(i, j) + (i == j) * l2;
    return matrix;
  }
};

/// A lower bound of the smallest eigenvalue, at least l2.
double least_curvature(std::span<const double> hessian, size_t p, double l2) {
  constexpr size_t kMost = 512;  // More columns take longer than the certificate is worth.
  if (p > kMost) return l2;
  double trace = 0;
  for (size_t j = 0; j < p; ++j) trace += hessian[j * (p + 1)];
  return std::max(l2, eigenvalues(hessian, p).front() - 1e-12 * trace);
}

}  // namespace

Optimum squared_optimum(const Moments& moments, double l2, double box) {
  constexpr int kStepsMax = 30;  // One is enough unless the moments are singular.
  const Quadratic f{moments, l2};
  const size_t p = moments.columns();
  const std::vector<double> hessian = f.hessian();
  const double ridge = smallest_ridge(hessian, p);
  Optimum best{.theta = std::vector<double>(p), .solver = "cholesky", .relative_gap = INFINITY};
  std::vector<double> theta = best.theta;
  double gap = INFINITY;
  for (int step = 0; step < kStepsMax; ++step) {
    const std::vector<double> gradient = f.gradient(theta);
    const double now = first_order_gap(theta, gradient, l2, box);
    if (!(now < gap)) break;
    gap = now, best.theta = theta, best.fitness = f.value(theta);
    if (gap <= 1e-3 * kGapWanted * best.fitness) break;
    const std::vector<double> d = newton_step(theta, gradient, hessian, ridge, box);
    for (size_t j = 0; j < p; ++j) theta[j] = std::clamp(theta[j] + d[j], -box, box);
  }
  for (double value : best.theta)
    if (std::fabs(value) >= box) best.solver = "active set";
  if (gap > kGapWanted * best.fitness)
    gap = std::min(gap, first_order_gap(best.theta, f.gradient(best.theta),
                                        least_curvature(hessian, p, l2), box));
  best.relative_gap = best.fitness > 0 ? gap / best.fitness : gap;
  return best;
}

}  // namespace parley::learn
