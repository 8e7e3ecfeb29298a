// A-T2: Theorem 2 of the asynchronous paper, taken at its word: without noise the distance must
// fall with T.
#include <cmath>

#include "parley/learn/schedule/async_descent.h"
#include "studies/reproduce/async/job.h"
#include "studies/reproduce/figures.h"

namespace parley::reproduce {
namespace async {
namespace {

/// |theta_L - theta*|^2 after T rounds of one owner with the mean loss (theta - 1)^2 / 2 and g =
/// 1e-5 theta^2, without noise; alpha / sigma = rho / (T^2 sigma).
double distance(double rho, uint64_t rounds) {
  learn::AsyncRule rule{.step = rho / (double(rounds) * double(rounds) * kAsyncL2),
                        .l2 = kAsyncL2,
                        .box = HUGE_VAL,
                        .dimension = 1,
                        .rounds = rounds,
                        .output = learn::AsyncOutput::kLast};
  rule.add(1, 1);
  rule.set_steps();
  learn::AsyncDescent descent(rule);
  while (!descent.finished()) {
    const double slope = descent.middle(0)[0] - 1;
    descent.step(0, std::span(&slope, 1));
  }
  const double best = 1 / (1 + kAsyncL2);
  return std::pow(descent.output()[0] - best, 2);
}

}  // namespace
}  // namespace async

using namespace async;

Result<Figure> async_theorem(const Study& study) {
  Figure figure = async_figure(
      study, "A-T2", "Theorem 2", "does the distance fall with T where there is no noise?",
      "For any N, there exist constants c₁, c₂, c₁′, c₂′ > 0 such that the iterates of Algorithm 1 "
      "satisfy E{‖θ_L,T − θ*‖²} ≤ c₁ √(1/T² + (1/N) Σ_i (2√2/(nε_i))²) + c₂ (1/T² + (1/N) Σ_i "
      "(2√2/(nε_i))²) […] (read as, the formula being scanned)");
  figure.settings = {{"owner", "one, mean loss (θ − 1)²/2, g = 1e-5 θ² (read as), no noise: ε → ∞"},
                     {"step", "a = ρ/(T²σ), σ = 2e-5, ρ = 0.2"}};
  Curve curve;
  for (uint64_t rounds = 100; rounds <= 1'000'000; rounds *= 10)
    curve.add(double(rounds), {distance(.2, rounds), 0});
  figure.panels = {{.title = "one owner, no noise",
                    .x = {.label = "rounds T", .log = true},
                    .y = {.label = "distance |θ_L,T − θ*|²", .log = true},
                    .series = {curve.series("measured"), curve.line(-1, "falls as 1/T")}}};
  Measure slope = between("slope of the distance over T, T = 10⁴ to 10⁶",
                          curve.slope_between(2, curve.x.size() - 1), -kAny, -1);
  slope.kind = Quantity::kExponent;
  figure.measures = {slope};
  figure.runs = 1;
  figure.note =
      "Without noise the right side falls at least as 1/T. The step a = ρ/(T²σ) makes T rounds "
      "move "
      "the model by about ρ/(Tσ), which goes to 0: from some T on the model stays where it "
      "started.";
  figure.data = "none";
  return figure;
}

}  // namespace parley::reproduce
