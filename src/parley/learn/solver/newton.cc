#include "parley/learn/solver/newton.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/learn/solver/box.h"
#include "parley/learn/solver/symmetric.h"

namespace parley::learn {
namespace {

constexpr int kStepsMax = 300, kPatience = 25;

void update(const Problem& problem, const Terms& terms, Iterate& at) {
  const Design& design = problem.design;
  design.each_range([&](size_t begin, size_t end) {
    terms.slopes(begin, end, &at.scores[begin], &at.slopes[begin]);
  });
  at.mean_slope = design.combination(at.slopes);
  for (double& value : at.mean_slope) value /= static_cast<double>(design.rows());
  at.gradient = at.mean_slope;
  for (size_t j = 0; j < at.theta.size(); ++j) at.gradient[j] += problem.l2 * at.theta[j];
  at.gap = first_order_gap(at.theta, at.gradient, problem.l2, problem.box);
}

std::vector<double> direction(const Problem& problem, const Terms& terms, const Iterate& at) {
  const Design& design = problem.design;
  const size_t p = design.columns();
  std::vector<double> curvatures(design.rows());
  design.each_range([&](size_t begin, size_t end) {
    terms.curvatures(begin, end, &at.scores[begin], &curvatures[begin]);
  });
  std::vector<double> hessian = design.products(curvatures);
  for (double& value : hessian) value /= static_cast<double>(design.rows());
  for (size_t j = 0; j < p; ++j) hessian[j * p + j] += problem.l2;
  return newton_step(at.theta, at.gradient, hessian, smallest_ridge(hessian, p), problem.box);
}

/// f along theta + t d, by its derivative.
class Line {
 public:
  Line(const Problem& problem, const Terms& terms, const Iterate& at, std::span<const double> d)
      : problem_(problem), terms_(terms), at_(at), change_(at.scores.size()) {
    problem.design.scores(d, change_);
    along_ = problem.l2 * dot(at.theta, d);
    square_ = problem.l2 * dot(d, d);
  }

  double slope(double t) const {
    const double sum = problem_.design.sum([&](size_t begin, size_t end) {
      constexpr size_t kBlock = 512;
      double scores[kBlock], slopes[kBlock], part = 0;
      for (size_t first = begin; first < end; first += kBlock) {
        const size_t count = std::min(kBlock, end - first);
        for (size_t i = 0; i < count; ++i)
          scores[i] = at_.scores[first + i] + t * change_[first + i];
        terms_.slopes(first, first + count, scores, slopes);
        for (size_t i = 0; i < count; ++i) part += slopes[i] * change_[first + i];
      }
      return part;
    });
    return sum / static_cast<double>(problem_.design.rows()) + along_ + t * square_;
  }

  std::span<const double> change() const { return change_; }

 private:
  const Problem& problem_;
  const Terms& terms_;
  const Iterate& at_;
  std::vector<double> change_;
  double along_, square_;
};

/// A t in (0, 1] where the derivative has fallen to a tenth: the whole step if it still descends
/// there, or else the false position rule (Illinois), since the derivative never decreases.
double search(const Line& line, double start_slope) {
  constexpr double kEnough = 0.1;
  double right = line.slope(1);
  if (right <= kEnough * -start_slope) return 1;
  double left = start_slope, low = 0, high = 1, t = 1;
  for (int i = 0; i < 40; ++i) {
    t = low + (high - low) * left / (left - right);
    const double slope = line.slope(t);
    if (std::fabs(slope) <= kEnough * -start_slope) break;
    if (slope > 0)
      high = t, right = slope, left /= i > 0 ? 2 : 1;
    else
      low = t, left = slope, right /= i > 0 ? 2 : 1;
  }
  return t;
}

void move(const Problem& problem, Iterate& at, std::span<const double> d, const Line& line,
          double t) {
  for (size_t j = 0; j < d.size(); ++j)
    at.theta[j] = std::clamp(at.theta[j] + t * d[j], -problem.box, problem.box);
  problem.design.each_range([&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) at.scores[i] += t * line.change()[i];
  });
}

}  // namespace

Iterate origin(const Problem& problem) {
  const size_t n = problem.design.rows(), p = problem.design.columns();
  return {.theta = std::vector<double>(p),
          .scores = std::vector<double>(n),
          .slopes = std::vector<double>(n)};
}

bool newton(const Problem& problem, const Terms& terms, Iterate& at,
            const std::function<bool(const Iterate&)>& done) {
  problem.design.scores(at.theta, at.scores);  // Steps add up rounding.
  Iterate best;
  best.gap = std::numeric_limits<double>::infinity();
  for (int step = 0, worse = 0; step < kStepsMax && worse < kPatience; ++step) {
    update(problem, terms, at);
    if (done(at)) return true;
    worse = at.gap < best.gap ? 0 : worse + 1;
    if (at.gap < best.gap) best = at;
    const std::vector<double> d = direction(problem, terms, at);
    const double start_slope = dot(at.gradient, d);
    if (!(start_slope < 0)) break;
    const Line line(problem, terms, at, d);
    move(problem, at, d, line, search(line, start_slope));
  }
  if (std::isfinite(best.gap)) at = std::move(best);
  return false;
}

}  // namespace parley::learn
