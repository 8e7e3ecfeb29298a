#include "parley/learn/solver/box.h"

#include <algorithm>
#include <cmath>

#include "parley/base/math/eigen.h"

namespace parley::learn {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using Eigen::Index;

/// min g.d + d'Hd/2 over low <= d <= high, by Newton steps on the coordinates that are free
/// (Bertsekas 1982); each step ends at the best of its projected halvings.
struct BoxQuadratic {
  Matrix hessian;
  Vector gradient, low, high;

  double value(const Vector& d) const { return d.dot(gradient + 0.5 * (hessian * d)); }

  std::vector<Index> free_at(const Vector& d, const Vector& slope) const {
    std::vector<Index> free;
    for (Index j = 0; j < d.size(); ++j) {
      const bool held = (d(j) <= low(j) && slope(j) > 0) || (d(j) >= high(j) && slope(j) < 0);
      if (!held) free.push_back(j);
    }
    return free;
  }

  Vector step_on(const std::vector<Index>& free, const Vector& slope) const {
    const auto size = static_cast<Index>(free.size());
    Vector step = Vector::Zero(gradient.size());
    if (size == gradient.size()) return -Eigen::LLT<Matrix>(hessian).solve(slope);
    Matrix part(size, size);
    Vector side(size);
    for (Index a = 0; a < size; ++a) {
      for (Index b = 0; b < size; ++b) part(a, b) = hessian(free[a], free[b]);
      side(a) = -slope(free[a]);
    }
    const Vector solved = Eigen::LLT<Matrix>(part).solve(side);
    for (Index a = 0; a < size; ++a) step(free[a]) = solved(a);
    return step;
  }

  Vector clamp(const Vector& d) const { return d.cwiseMax(low).cwiseMin(high); }

  /// Whether `d` was the minimiser already, up to rounding.
  bool improve(Vector& d) const {
    const Vector slope = gradient + hessian * d;
    const std::vector<Index> free = free_at(d, slope);
    if (free.empty()) return false;
    const Vector step = step_on(free, slope);
    const double before = value(d);
    for (double t = 1; t > 1e-12; t /= 2) {
      const Vector next = clamp(d + t * step);
      const double promised = slope.dot(next - d);
      if (value(next) > before + 0.1 * std::min(promised, 0.0)) continue;
      const bool whole = t == 1 && (next - d - step).cwiseAbs().maxCoeff() == 0;
      const bool moved = promised < -1e-15 * std::fabs(before);
      d = next;
      return moved && !(whole && free_at(d, gradient + hessian * d) == free);
    }
    return false;
  }
};

}  // namespace

double first_order_gap(std::span<const double> theta, std::span<const double> gradient, double l2,
                       double box) {
  double gap = 0;
  for (size_t j = 0; j < theta.size(); ++j) {
    const double g = gradient[j], to_low = -box - theta[j], to_high = box - theta[j];
    const double best = l2 > 0 ? std::clamp(-g / l2, to_low, to_high) : g > 0 ? to_low : to_high;
    if (g != 0) gap -= std::min(0.0, best * (g + l2 / 2 * best));
  }
  return gap;
}

std::vector<double> newton_step(std::span<const double> theta, std::span<const double> gradient,
                                std::span<const double> hessian, double ridge, double box) {
  const auto p = static_cast<Index>(theta.size());
  BoxQuadratic problem{Eigen::Map<const Matrix>(hessian.data(), p, p),
                       Eigen::Map<const Vector>(gradient.data(), p), Vector(p), Vector(p)};
  problem.hessian.diagonal().array() += ridge;
  for (Index j = 0; j < p; ++j) {
    problem.low(j) = std::min(-box - theta[size_t(j)], 0.0);
    problem.high(j) = std::max(box - theta[size_t(j)], 0.0);
  }
  Vector d = Vector::Zero(p);
  for (int i = 0; i < 100 && problem.improve(d); ++i) {
  }
  return {d.begin(), d.end()};
}

double smallest_ridge(std::span<const double> hessian, size_t dimension) {
  double trace = 0;
  for (size_t j = 0; j < dimension; ++j) trace += hessian[j * dimension + j];
  return trace > 0 ? 1e-13 * trace : 1;
}

}  // namespace parley::learn
