#include "parley/privacy/accounting/sampled_step.h"

#include <cmath>

#include "parley/base/math/number.h"
#include "parley/base/result.h"
#include "parley/privacy/accounting/zcdp.h"

namespace parley::privacy {
namespace {

constexpr double kUp = 1 + 0x1p-48;

/// ln(1 + q (e^epsilon - 1)), at most epsilon.
double amplified(double q, double epsilon) {
  if (epsilon > 600) return epsilon;
  return std::fmin(epsilon, std::log1p(q * std::expm1(epsilon) * kUp) * kUp);
}

}  // namespace

ApproximateEvent sampled_step(const SampledGaussianEvent& event, Adjacency adjacency) {
  check(event.delta > 0 && event.delta < 1);
  const bool replace = adjacency == Adjacency::kReplaceOne;
  const double norms = replace ? 2 * event.noise_multiplier : event.noise_multiplier;
  const double rho = div_up(1, next_down(2 * norms * norms));
  const double q = event.sampling_probability;
  const double epsilon = amplified(q, zcdp_epsilon(rho, *Delta::make(event.delta)));
  const double delta = mul_up(q, event.delta);
  if (!replace) return {epsilon, delta};
  const double both =
      epsilon > 600 ? 1 : std::fmin(1, mul_up(delta, (1 + std::exp(epsilon)) * kUp));
  return {2 * epsilon, both};
}

}  // namespace parley::privacy
