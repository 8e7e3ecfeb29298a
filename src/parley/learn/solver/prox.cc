#include "parley/learn/solver/prox.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "parley/base/result.h"
#include "parley/learn/solver/box.h"

namespace parley::learn {
namespace {

constexpr int kSteps = 100'000;  // Of a method that needs tens, or hundreds.

double squares_of(std::span<const double> z) {
  double squares = 0;
  for (double value : z) squares += value * value;
  return squares;
}

std::shared_ptr<const data::Rows> usable(const data::AnyRows& any, double longest) {
  const auto* given = std::get_if<std::shared_ptr<const data::Rows>>(&any);
  const auto rows = given ? *given
                          : std::make_shared<const data::Rows>(
                                std::get<std::shared_ptr<const data::SparseRows>>(any)->dense());
  if (longest == std::numeric_limits<double>::infinity()) return rows;
  auto result = std::make_shared<data::Rows>(rows->columns());
  for (size_t i = 0; i < rows->size(); ++i)
    if (squares_of(rows->row(i)) > longest * longest)
      result->add_zero();
    else
      result->add(rows->row(i), rows->label(i));
  return result;
}

double distance_of(double gap, const Prox& prox) {
  return std::sqrt(2 * std::fmax(gap, 0) / prox.convexity());
}

/// Newton's method over the box.
class Smooth {
 public:
  Smooth(const Losses& loss, const data::Rows& rows, const Prox& prox)
      : loss_(loss), rows_(rows), prox_(prox) {}

  ProxMinimum solve(double distance) const {
    Point at = point(clamped(prox_.center));
    for (int k = 0; k < kSteps && distance_of(at.gap, prox_) > distance; ++k) {
      auto next = improved(at);
      if (!next) break;
      at = *std::move(next);
    }
    return {at.theta, distance_of(at.gap, prox_)};
  }

 private:
  struct Point {
    std::vector<double> theta, gradient;
    double gap = 0;
  };

  std::vector<double> clamped(std::vector<double> theta) const {
    for (double& value : theta) value = std::clamp(value, -prox_.box, prox_.box);
    return theta;
  }

  Point point(std::vector<double> theta) const {
    auto gradient = mean_gradient(loss_, rows_, theta, prox_.norm, prox_.limit);
    for (size_t j = 0; j < theta.size(); ++j)
      gradient[j] += prox_.l2 * theta[j] + prox_.pull * (theta[j] - prox_.center[j]);
    const double gap = first_order_gap(theta, gradient, prox_.convexity(), prox_.box);
    return {std::move(theta), std::move(gradient), gap};
  }

  /// A Newton step, if it clearly helps; else one along which F still falls where it ends, but no
  /// longer half as steeply: F is convex, so it fell all the way (and by Wolfe's rule enough). Only
  /// slopes are looked at, which have no rounding that values near the minimum have.
  std::optional<Point> improved(const Point& at) const {
    const auto hessian =
        clipped_hessian(loss_, rows_, at.theta, prox_.norm, prox_.limit, prox_.convexity());
    const auto step = newton_step(at.theta, at.gradient, hessian, 0, prox_.box);
    const double steep = along(at, step);
    if (!(steep < 0)) return std::nullopt;
    double low = 0, high = 1;
    for (double part = 1; high - low > 1e-15; part = (low + high) / 2) {
      Point next = moved(at, part, step);
      const double slope = along(next, step);
      if (part == 1 && (slope <= 0 || next.gap < .25 * at.gap)) return next;
      if (slope <= 0 && slope >= steep / 2) return next;
      (slope > 0 ? high : low) = part;
    }
    return low > 0 ? std::optional(moved(at, low, step)) : std::nullopt;
  }

  Point moved(const Point& at, double part, const std::vector<double>& step) const {
    std::vector<double> theta = at.theta;
    for (size_t j = 0; j < theta.size(); ++j) theta[j] += part * step[j];
    return point(clamped(std::move(theta)));
  }

  static double along(const Point& at, const std::vector<double>& step) {
    double slope = 0;
    for (size_t j = 0; j < step.size(); ++j) slope += at.gradient[j] * step[j];
    return slope;
  }

  const Losses& loss_;
  const data::Rows& rows_;
  const Prox& prox_;
};

/// The hinge: F = mean of w_i max(0, 1 - y_i z_i.theta) + (s/2)|theta - c|^2 + a constant, where s
/// is the convexity and c = pull center / s. Its dual has one number a_i in [0, w_i / n] per record
/// and theta = clamp(c + sum of a_i y_i z_i / s); ascent on one a_i at a time, with the curvature
/// |z_i|^2 / s that the clamp can only make smaller (Hsieh et al. 2008).
class HingeDual {
 public:
  HingeDual(const Hinge& hinge, const data::Rows& rows, const Prox& prox)
      : rows_(rows), prox_(prox), middle_(prox.center), dual_(rows.size()), sum_(rows.columns()) {
    for (double& value : middle_) value *= prox.pull / prox.convexity();
    for (size_t i = 0; i < rows.size(); ++i) {
      const double squares = squares_of(rows.row(i));
      double size = 0;
      for (double value : rows.row(i)) size += std::fabs(value);
      const double norm = prox.norm == ClipIn::kL1 ? size : std::sqrt(squares);
      const double whole = hinge.weights.of(rows.label(i));
      const double most = prox.norm == ClipIn::kNone ? whole : prox.limit / norm;
      squares_.push_back(squares);
      weights_.push_back(squares > 0 ? std::min(whole, most) : whole);
    }
  }

  ProxMinimum solve(double distance) {
    double apart = distance_of(gap(), prox_);
    for (int k = 0; k < kSteps && apart > distance; ++k) {
      for (size_t i = 0; i < rows_.size(); ++i) ascend(i);
      add_up();
      apart = distance_of(gap(), prox_);
    }
    return {theta(), apart};
  }

 private:
  double coordinate(size_t j) const {
    return std::clamp(middle_[j] + sum_[j] / prox_.convexity(), -prox_.box, prox_.box);
  }
  std::vector<double> theta() const {
    std::vector<double> theta(sum_.size());
    for (size_t j = 0; j < theta.size(); ++j) theta[j] = coordinate(j);
    return theta;
  }

  void ascend(size_t i) {
    if (squares_[i] == 0) return;
    const auto z = rows_.row(i);
    double score = 0;
    for (size_t j = 0; j < z.size(); ++j) score += z[j] * coordinate(j);
    const double y = rows_.label(i), most = weights_[i] / static_cast<double>(rows_.size());
    const double step = (1 - y * score) * prox_.convexity() / squares_[i];
    const double next = std::clamp(dual_[i] + step, 0.0, most);
    for (size_t j = 0; j < z.size(); ++j) sum_[j] += (next - dual_[i]) * y * z[j];
    dual_[i] = next;
  }

  /// Anew: what rounding did to the sum must not be part of the certificate.
  void add_up() {
    std::fill(sum_.begin(), sum_.end(), 0.0);
    for (size_t i = 0; i < rows_.size(); ++i)
      for (size_t j = 0; j < sum_.size(); ++j)
        sum_[j] += dual_[i] * rows_.label(i) * rows_.row(i)[j];
  }

  /// Primal minus dual value, in wide numbers: the sums over records nearly cancel.
  double gap() const {
    const std::vector<double> at = theta();
    long double primal = 0, dual = 0;
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (squares_[i] == 0) continue;  // Adds the same to every theta.
      long double score = 0;
      for (size_t j = 0; j < at.size(); ++j) score += (long double)(rows_.row(i)[j]) * at[j];
      const long double short_by = 1 - rows_.label(i) * score;
      if (short_by > 0) primal += weights_[i] * short_by;
      dual += dual_[i];
    }
    // The rest of both: at theta the quadratic term is the same, and v.theta completes the dual.
    long double inner = 0;
    for (size_t j = 0; j < at.size(); ++j) inner += (long double)(sum_[j]) * at[j];
    return static_cast<double>(primal / rows_.size() - dual + inner);
  }

  const data::Rows& rows_;
  const Prox& prox_;
  std::vector<double> middle_, weights_, squares_, dual_;
  std::vector<double> sum_;  // of a_i y_i z_i
};

}  // namespace

ProxMinimum prox_minimum(const Losses& loss, const data::AnyRows& rows, const Prox& prox,
                         double distance) {
  check(prox.convexity() > 0 && distance > 0 && prox.center.size() == data::columns_of(rows));
  const auto values = usable(rows, prox.longest);
  if (const auto* hinge = std::get_if<Hinge>(&loss))
    return HingeDual(*hinge, *values, prox).solve(distance);
  return Smooth(loss, *values, prox).solve(distance);
}

}  // namespace parley::learn
