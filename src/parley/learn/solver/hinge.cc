// The hinge loss has no curvature, and its optimum sits on kinks. With t = 1 - y z.theta,
//
//   w max(0, t) = max of a t over 0 <= a <= w,
//
// so the minimum over theta equals the maximum over a of
//
//   D(a) = mean a + min over the box of (l2/2)|theta|^2 - mean(a y z).theta,
//
// and P(theta) - D(a) bounds the error of theta for any a. The method of multipliers maximises
// D(a) - (mu/2) mean (a - a0)^2, moves a0 to the result, and again with a smaller mu. Its inner
// problem, as one in theta, has the terms max of a t - (mu/2)(a - a0)^2, reached at
// a = clamp(a0 + t/mu, 0, w): convex, smooth, curved only where a is inside. (Rockafellar 1976;
// with semismooth Newton inside: Li, Sun, Toh 2018.)
#include <algorithm>
#include <cmath>

#include "parley/learn/solver/solvers.h"

namespace parley::learn {
namespace {

class ProximalHinge final : public Terms {
 public:
  ProximalHinge(const Hinge& loss, std::span<const double> labels)
      : weights_(loss.weights), labels_(labels), centre_(labels.size()) {}

  void slopes(size_t begin, size_t end, const double* scores, double* out) const override {
    for (size_t i = 0; i < end - begin; ++i) {
      const double y = labels_[begin + i];
      const double a = centre_[begin + i] + (1 - y * scores[i]) * inverse_mu_;
      out[i] = -y * clamp(a, weights_.of(y));
    }
  }
  void curvatures(size_t begin, size_t end, const double* scores, double* out) const override {
    for (size_t i = 0; i < end - begin; ++i) {
      const double y = labels_[begin + i];
      const double a = centre_[begin + i] + (1 - y * scores[i]) * inverse_mu_;
      out[i] = a > 0 && a < weights_.of(y) ? inverse_mu_ : 0.0;
    }
  }

  /// The multiplier that a slope stands for; a record without a class has margin 0, and the most.
  double multiplier(size_t i, double slope) const {
    const double y = labels_[i];
    return y == 0 ? weights_.of(y) : -y * slope;
  }
  void recentre(std::span<const double> slopes) {
    for (size_t i = 0; i < centre_.size(); ++i) centre_[i] = multiplier(i, slopes[i]);
  }
  void stretch(double factor) { inverse_mu_ *= factor; }

 private:
  static double clamp(double a, double most) {
    a = a < 0 ? 0.0 : a;
    return a > most ? most : a;
  }

  ClassWeights weights_;
  std::span<const double> labels_;
  std::vector<double> centre_;
  double inverse_mu_ = 1;
};

/// min over |x| <= box of (l2/2) x^2 + g x, coordinate by coordinate.
double smallest_linear(std::span<const double> g, double l2, double box) {
  double sum = 0;
  for (double slope : g) {
    const double best = l2 > 0 ? std::clamp(-slope / l2, -box, box) : slope > 0 ? -box : box;
    if (slope != 0) sum += best * (slope + l2 / 2 * best);
  }
  return sum;
}

struct Gap {
  double primal, dual;
  double relative() const {
    const double gap = std::max(primal - dual, 0.0);
    return primal > 0 ? gap / primal : gap;
  }
};

Gap gap_at(const Problem& problem, const Hinge& loss, const ProximalHinge& terms,
           const Iterate& at) {
  const auto n = static_cast<double>(problem.design.rows());
  double squares = 0;
  for (double value : at.theta) squares += value * value;
  const double multipliers = problem.design.sum([&](size_t begin, size_t end) {
    double part = 0;
    for (size_t i = begin; i < end; ++i) part += terms.multiplier(i, at.slopes[i]);
    return part;
  });
  return {problem.l2 / 2 * squares + mean_loss(problem.design, loss, at.scores),
          multipliers / n + smallest_linear(at.mean_slope, problem.l2, problem.box)};
}

}  // namespace

Optimum hinge_optimum(const Problem& problem, const Hinge& loss) {
  constexpr int kOuterMax = 40;
  constexpr double kShrink = 8;
  constexpr int kEasy = 8;
  ProximalHinge terms(loss, problem.design.labels());
  Iterate at = origin(problem);
  Optimum best{.theta = at.theta, .fitness = 0, .solver = "multipliers", .relative_gap = INFINITY};
  const auto note = [&](const Iterate& now) {
    const Gap gap = gap_at(problem, loss, terms, now);
    if (gap.relative() < best.relative_gap)
      best.theta = now.theta, best.fitness = gap.primal, best.relative_gap = gap.relative();
    return gap;
  };
  for (int outer = 0; outer < kOuterMax && best.relative_gap > kGapWanted; ++outer) {
    int steps = 0;
    const bool solved = newton(problem, terms, at, [&](const Iterate& now) {
      const Gap gap = note(now);
      ++steps;
      return best.relative_gap <= kGapWanted || now.gap <= 0.05 * (gap.primal - gap.dual - now.gap);
    });
    note(at);
    // A hard inner problem asks for a larger mu, an easy one allows a smaller: both converge.
    if (solved) terms.recentre(at.slopes);
    terms.stretch(!solved ? 1 / kShrink : steps <= kEasy ? kShrink : 1);
  }
  return best;
}

}  // namespace parley::learn
