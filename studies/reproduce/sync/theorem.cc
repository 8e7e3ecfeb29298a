// S-T2: Theorem 2 of the synchronous paper, taken at its word: rho is fixed, and T grows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "studies/reproduce/figures.h"
#include "studies/reproduce/sync/job.h"

namespace parley::reproduce {
namespace sync {
namespace {

/// f = theta^2 / 2 from theta = 1: strongly convex and smooth with L = 1, f* = 0.
constexpr double kStart = 1, kXi = 1, kRho = 1;

/// 8 Xi^2 rho / (L n^2) times the sum of 1 / epsilon^2: the theorem's bound, if this is what the
/// noise's part of it is.
constexpr double kBound = 1e-3, kSlack = 1e-3;

/// min over k of E f(theta[k]) by Algorithm 1 in T rounds: E theta^2 exactly, round by round. The
/// noise of a round has the variance 2 b^2 = 8 Xi^2 T^2 / n^2 times the sum of 1 / epsilon^2.
double least_fitness(double rho, double rounds) {
  const double variance = kBound * kXi * rounds * rounds;  // L = rho = 1 in the bound
  double square = kStart * kStart, least = square / 2;
  for (double k = 1; k < rounds; ++k) {
    const double step = rho / (rounds * rounds * k);
    square = (1 - step) * (1 - step) * square + step * step * variance;
    least = std::min(least, square / 2);
  }
  return least;
}

}  // namespace
}  // namespace sync

using namespace sync;

Result<Figure> sync_theorem(const Study& study) {
  Figure figure = sync_figure(
      study, "S-T2", "Theorem 2", "is there a T from which the bound holds?",
      "Assume that f is a L-strongly convex continuously-differentiable function with λ-Lipschitz "
      "gradient and θ_max = ∞ (i.e., there is no constraint). For any ε > 0, there exists a large "
      "enough T such that the iterates of Algorithm 1 satisfy min_{1≤k≤T} E{f(θ[k])} − f(θ*) ≤ "
      "(8Ξ²ρ/(Ln²)) (Σ_ℓ 1/ε_ℓ²) + ε […]");
  Curve fixed;
  for (double rounds = 10; rounds < 2e6; rounds *= 10)
    fixed.add(rounds, {least_fitness(kRho, rounds), 0});
  Series level{.name = "bound + ε", .kind = Series::Kind::kLevel, .y = {kBound + kSlack}};
  figure.panels = {{.title = "f(θ) = θ²/2 from θ[1] = 1, exact",
                    .x = {.label = "rounds T", .log = true},
                    .y = {.label = "min_k E f(θ[k]) − f(θ*)", .log = true},
                    .series = {fixed.series("ρ = 1"), level}}};
  const double least = *std::ranges::min_element(fixed.y) / (kBound + kSlack);
  figure.measures = {between("min_k E f(θ[k]) − f(θ*) over the bound + ε, least over T = 10 … 10⁶",
                             {least, 0}, 0, 1),
                     beside("min_k E f(θ[k]) − f(θ*), T = 10⁶", {fixed.y.back(), 0})};
  figure.runs = 1;
  figure.settings = {{"function", "f = θ²/2: L = λ = 1, f* = 0, θ[1] = 1, ρ = 1"},
                     {"bound", "n and ε_ℓ such that the bound is 0.001; ε = 0.001"}};
  figure.note =
      "The steps ρ/(T²k) add up to ρ (ln T)/T², which goes to 0: the longer the horizon, the less "
      "the iterate moves. The proof sums past round T. If ρ grew like T² the iterate would move, "
      "and "
      "the bound grow with it.";
  figure.data = "none";
  return figure;
}

}  // namespace parley::reproduce
