#include "parley/learn/solver/box.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "parley/base/result.h"
#include "parley/learn/solver/symmetric.h"

namespace parley::learn {
namespace {

using Vector = std::vector<double>;

/// min g.d + d'Hd/2 over low <= d <= high, by Newton steps on the coordinates that are free
/// (Bertsekas 1982); each step ends at the best of its projected halvings.
struct BoxQuadratic {
  std::vector<double> hessian;
  Vector gradient, low, high;

  double value(const Vector& d) const {
    Vector sum = times(hessian, d);
    for (size_t j = 0; j < d.size(); ++j) sum[j] = gradient[j] + 0.5 * sum[j];
    return dot(d, sum);
  }

  Vector slope_at(const Vector& d) const {
    Vector slope = times(hessian, d);
    for (size_t j = 0; j < d.size(); ++j) slope[j] += gradient[j];
    return slope;
  }

  std::vector<size_t> free_at(const Vector& d, const Vector& slope) const {
    std::vector<size_t> free;
    for (size_t j = 0; j < d.size(); ++j) {
      const bool held = (d[j] <= low[j] && slope[j] > 0) || (d[j] >= high[j] && slope[j] < 0);
      if (!held) free.push_back(j);
    }
    return free;
  }

  /// Nothing where rounding has left no positive definite matrix.
  std::optional<Vector> step_on(const std::vector<size_t>& free, const Vector& slope) const {
    std::vector<double> part;
    Vector side, step(gradient.size());
    for (size_t a : free) {
      for (size_t b : free) part.push_back(hessian[a * gradient.size() + b]);
      side.push_back(-slope[a]);
    }
    const auto factor = Cholesky::of(part, free.size());
    if (!factor) return std::nullopt;
    const Vector solved = factor->solve(side);
    for (size_t a = 0; a < free.size(); ++a) step[free[a]] = solved[a];
    return step;
  }

  /// d + t step, inside.
  Vector moved(const Vector& d, double t, const Vector& step) const {
    Vector next(d.size());
    for (size_t j = 0; j < d.size(); ++j)
      next[j] = std::min(std::max(d[j] + t * step[j], low[j]), high[j]);
    return next;
  }

  /// Whether `d` was the minimiser already, up to rounding.
  bool improve(Vector& d) const {
    const Vector slope = slope_at(d);
    const std::vector<size_t> free = free_at(d, slope);
    const auto step = free.empty() ? std::nullopt : step_on(free, slope);
    if (!step) return false;
    const double before = value(d);
    for (double t = 1; t > 1e-12; t /= 2) {
      const Vector next = moved(d, t, *step);
      Vector way = next;
      for (size_t j = 0; j < d.size(); ++j) way[j] -= d[j];
      const double promised = dot(slope, way);
      if (value(next) > before + 0.1 * std::min(promised, 0.0)) continue;
      const bool whole = t == 1 && way == *step;
      const bool further = promised < -1e-15 * std::fabs(before);
      d = next;
      return further && !(whole && free_at(d, slope_at(d)) == free);
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
  const size_t p = theta.size();
  check(gradient.size() == p && hessian.size() == p * p);
  BoxQuadratic problem{
      {hessian.begin(), hessian.end()}, {gradient.begin(), gradient.end()}, Vector(p), Vector(p)};
  for (size_t j = 0; j < p; ++j) {
    problem.hessian[j * (p + 1)] += ridge;
    problem.low[j] = std::min(-box - theta[j], 0.0);
    problem.high[j] = std::max(box - theta[j], 0.0);
  }
  Vector d(p);
  for (int i = 0; i < 100 && problem.improve(d); ++i) {
  }
  return d;
}

double smallest_ridge(std::span<const double> hessian, size_t dimension) {
  double trace = 0;
  for (size_t j = 0; j < dimension; ++j) trace += hessian[j * dimension + j];
  return trace > 0 ? 1e-13 * trace : 1;
}

}  // namespace parley::learn
