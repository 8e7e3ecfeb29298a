#include <memory>

#include "parley/base/result.h"
#include "parley/learn/solver/solvers.h"

namespace parley::learn {
namespace {

double squared_norm(std::span<const double> theta) {
  double sum = 0;
  for (double value : theta) sum += value * value;
  return sum;
}

template <Loss L>
class LossTerms final : public Terms {
 public:
  LossTerms(const L& loss, std::span<const double> labels) : loss_(loss), labels_(labels) {}

  void slopes(size_t begin, size_t end, const double* scores, double* out) const override {
    for (size_t i = 0; i < end - begin; ++i) out[i] = loss_.slope(scores[i], labels_[begin + i]);
  }
  void curvatures(size_t begin, size_t end, const double* scores, double* out) const override {
    for (size_t i = 0; i < end - begin; ++i)
      out[i] = loss_.curvature(scores[i], labels_[begin + i]);
  }

 private:
  const L loss_;
  std::span<const double> labels_;
};

}  // namespace

double mean_loss(const Design& design, const Losses& loss, std::span<const double> scores) {
  const std::span<const double> labels = design.labels();
  const double sum = std::visit(
      [&](const auto& known) {
        return design.sum([&](size_t begin, size_t end) {
          double part = 0;
          for (size_t i = begin; i < end; ++i) part += known.value(scores[i], labels[i]);
          return part;
        });
      },
      loss);
  return sum / static_cast<double>(design.rows());
}

Optimum smooth_optimum(const Problem& problem, const Losses& loss) {
  const auto terms = std::visit(
      [&]<class L>(const L& known) -> std::unique_ptr<Terms> {
        return std::make_unique<LossTerms<L>>(known, problem.design.labels());
      },
      loss);
  const auto fitness = [&](const Iterate& at) {
    return problem.l2 / 2 * squared_norm(at.theta) + mean_loss(problem.design, loss, at.scores);
  };
  Iterate at = origin(problem);
  // The fitness is at most 1 or so for ordinary data: it is worth computing near the end only.
  newton(problem, *terms, at, [&](const Iterate& now) {
    return now.gap == 0 || (now.gap < 1e-6 && now.gap <= kGapWanted * fitness(now));
  });
  Optimum optimum{.theta = at.theta, .fitness = fitness(at), .solver = "newton"};
  optimum.relative_gap = optimum.fitness > 0 ? at.gap / optimum.fitness : at.gap;
  return optimum;
}

}  // namespace parley::learn
