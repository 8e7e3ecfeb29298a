#include <algorithm>
#include <cmath>

#include "parley/base/math/eigen.h"
#include "parley/learn/personal/paths.h"
#include "parley/learn/solver/box.h"

namespace parley::learn {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using Eigen::Index;

constexpr int kNewtonSteps = 100, kPatience = 5;
// What a step promises is the Newton decrement g' H^-1 g, twice what it should lower F by.
constexpr double kPromiseWanted = 1e-16;  // A step that promises less is the last one.
/// The Hessian of the loss is kept from step to step, and from one strength to the next, for as
/// long as each promise is below this part of the one before. Summing it over the rows is most of
/// the work of a Newton step; so a family of 46 models takes 10 to 20 such sums and 280 steps.
constexpr double kPromiseFalls = 0.03;

/// Minimises F(theta) = mean loss + (nu/2) (theta - s)' M (theta - s) for one nu after the other,
/// each from the minimum of the one before; the first from s.
template <Loss L>
class NewtonPath {
 public:
  NewtonPath(const Used& rows, const L& loss, const Pull& pull, const std::vector<double>& centre)
      : rows_(rows),
        loss_(loss),
        p_(static_cast<Index>(centre.size())),
        metric_(Eigen::Map<const Matrix>(pull.metric.data(), p_, p_)),
        centre_(Eigen::Map<const Vector>(centre.data(), p_)) {
    at_ = {.theta = centre_, .scores = std::vector<double>(rows.design.rows())};
    rows.design.scores(centre, at_.scores);
    renew_curvature();
  }

  std::vector<double> minimise(double nu) {
    nu_ = nu;
    at_.gradient = gradient(at_);
    factorise();
    smallest_promise_ = INFINITY, waited_ = 0;
    for (int k = 0; k < kNewtonSteps && step(); ++k) {
    }
    return {at_.theta.begin(), at_.theta.end()};
  }

 private:
  struct Point {
    Vector theta{};
    std::vector<double> scores{};  // of all rows
    Vector gradient{};             // of F
  };

  /// False after the last step.
  bool step() {
    const Vector d = -factor_.solve(at_.gradient);
    const double promise = -at_.gradient.dot(d);
    if (!(promise > 0) || !worth_going_on(promise)) return false;  // Not for NaN either.
    std::vector<double> change(at_.scores.size());
    rows_.design.scores(std::span(d.data(), size_t(p_)), change);
    for (double part = 1; part > 1e-9; part /= 2) {
      Point next = moved(part, d, change);
      const double next_promise = next.gradient.dot(factor_.solve(next.gradient));
      // Where F, which is convex, still falls at the end of the step, it fell all the way. Only
      // slopes are looked at: values near the minimum are all rounding.
      const bool good = next.gradient.dot(d) <= 0 || (part == 1 && next_promise < promise / 4);
      if (!good) continue;
      at_ = std::move(next);
      if (promise <= kPromiseWanted) return false;
      if (!(next_promise <= kPromiseFalls * promise)) renew_curvature(), factorise();
      return true;
    }
    return false;
  }

  /// Rounding is in the way where steps do not come nearer to the minimum any more.
  bool worth_going_on(double promise) {
    waited_ = promise < smallest_promise_ ? 0 : waited_ + 1;
    smallest_promise_ = std::min(smallest_promise_, promise);
    return waited_ < kPatience;
  }

  Point moved(double part, const Vector& d, const std::vector<double>& change) const {
    Point next{.theta = at_.theta + part * d, .scores = at_.scores};
    for (size_t i = 0; i < change.size(); ++i) next.scores[i] += part * change[i];
    next.gradient = gradient(next);
    return next;
  }

  Vector gradient(const Point& at) const {
    const auto of_loss = rows_.design.combination(
        weighted(at, [&](double score, double label) { return loss_.slope(score, label); }));
    return Eigen::Map<const Vector>(of_loss.data(), p_) + nu_ * (metric_ * (at.theta - centre_));
  }

  void renew_curvature() {
    const auto products = rows_.design.products(
        weighted(at_, [&](double score, double label) { return loss_.curvature(score, label); }));
    curvature_ = Eigen::Map<const Matrix>(products.data(), p_, p_);
  }

  void factorise() {
    Matrix whole = curvature_ + nu_ * metric_;
    whole.diagonal().array() += smallest_ridge({whole.data(), size_t(p_ * p_)}, size_t(p_));
    factor_.compute(whole);
  }

  /// what(score, label) of every row, times the row's weight in the mean.
  template <class What>
  std::vector<double> weighted(const Point& at, const What& what) const {
    const double* labels = rows_.design.labels().data();
    std::vector<double> result(at.scores.size());
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = rows_.weights[i] * what(at.scores[i], labels[i]);
    return result;
  }

  const Used& rows_;
  const L& loss_;
  Index p_;
  Matrix metric_;
  Vector centre_;
  double nu_ = 0, smallest_promise_ = 0;
  int waited_ = 0;  // steps since the smallest promise
  Point at_{};
  Matrix curvature_{};  // of the loss, at this theta or an earlier one
  Eigen::LLT<Matrix> factor_{};
};

/// The mean loss along one coordinate, and (ridge/2) step^2.
class Axis {
 public:
  Axis(const Used& rows, const Losses& loss, std::span<const double> theta, size_t coordinate,
       double ridge)
      : rows_(rows),
        loss_(loss),
        ridge_(ridge),
        scores_(rows.design.rows()),
        column_(rows.design.rows()) {
    std::vector<double> unit(theta.size());
    unit[coordinate] = 1;
    rows.design.scores(theta, scores_), rows.design.scores(unit, column_);
  }

  struct Derivatives {
    double slope = 0, curvature = 0;
  };
  Derivatives at(double step) const {
    Derivatives sum{ridge_ * step, ridge_};
    const std::span<const double> labels = rows_.design.labels();
    std::visit(
        [&](const auto& known) {
          for (size_t i = 0; i < scores_.size(); ++i) {
            const double score = scores_[i] + step * column_[i];
            const double factor = rows_.weights[i] * column_[i];
            sum.slope += factor * known.slope(score, labels[i]);
            sum.curvature += factor * column_[i] * known.curvature(score, labels[i]);
          }
        },
        loss_);
    return sum;
  }

 private:
  const Used& rows_;
  const Losses& loss_;
  double ridge_;
  std::vector<double> scores_, column_;  // at theta, and what one step adds
};

}  // namespace

std::vector<std::vector<double>> newton_models(const Used& rows, const Losses& loss,
                                               const Pull& pull) {
  std::vector<std::vector<double>> models;
  std::visit(
      [&](const auto& known) {
        for (const std::vector<double>& centre : pull.centres) {
          NewtonPath path(rows, known, pull, centre);
          for (double nu : pull.strengths) models.push_back(path.minimise(nu));
        }
      },
      loss);
  return models;
}

double best_step_along(const Used& rows, const Losses& loss, std::span<const double> theta,
                       size_t coordinate, double ridge) {
  const Axis axis(rows, loss, theta, coordinate, ridge);
  const double away = axis.at(0).slope > 0 ? -1 : 1;  // where the loss falls
  double near = 0, far = away;                        // the minimum lies between
  for (int k = 0; k < 60 && axis.at(far).slope * away < 0; ++k) near = far, far *= 2;
  double step = near;
  for (int k = 0; k < kNewtonSteps; ++k) {
    const auto [slope, curvature] = axis.at(step);
    if (!(std::fabs(slope) > 1e-8)) break;
    (slope * away < 0 ? near : far) = step;
    step -= slope / curvature;
    const bool between = std::min(near, far) < step && step < std::max(near, far);
    if (!between) step = (near + far) / 2;
  }
  return step;
}

}  // namespace parley::learn
