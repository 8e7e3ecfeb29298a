#include "parley/privacy/accounting/basic.h"

#include <algorithm>
#include <cmath>

#include "parley/base/math/number.h"

namespace parley::privacy {
namespace {

struct Sums {
  double epsilon = 0, squares = 0, drift = 0, delta = 0;
};

Result<Sums> sums_of(const Events& events) {
  Sums sums;
  for (const auto& [event, count] : events) {
    const auto [epsilon, delta] = TRY(as_approximate(event));
    const double times = static_cast<double>(count);
    sums.epsilon = add_up(sums.epsilon, mul_up(epsilon, times));
    sums.squares = add_up(sums.squares, mul_up(mul_up(epsilon, epsilon), times));
    const double drift = mul_up(epsilon, next_up(next_up(std::expm1(epsilon))));
    sums.drift = add_up(sums.drift, mul_up(drift, times));
    sums.delta = add_up(sums.delta, mul_up(delta, times));
  }
  return sums;
}

Error too_small(double delta) {
  return {Code::kInvalid, "the mechanisms' own delta, " + shortest(delta) + ", is not below delta",
          "Ask for a larger delta."};
}

}  // namespace

Result<ApproximateEvent> as_approximate(const Event& event) {
  if (const auto* laplace = std::get_if<LaplaceEvent>(&event))
    return ApproximateEvent{div_up(1, laplace->noise_multiplier), 0};
  if (const auto* laplace = std::get_if<DiscreteLaplaceEvent>(&event))
    return ApproximateEvent{div_up(laplace->sensitivity, laplace->scale), 0};
  if (const auto* approximate = std::get_if<ApproximateEvent>(&event)) return *approximate;
  return Error{Code::kInvalid, "an event has no epsilon of its own: Gaussian noise or zCDP"};
}

Result<double> basic_epsilon(const Events& events, Delta delta) {
  const Sums sums = TRY(sums_of(events));
  if (sums.delta > delta.value()) return too_small(sums.delta);
  return sums.epsilon;
}

Result<double> advanced_formula(const Events& events, Delta delta) {
  const Sums sums = TRY(sums_of(events));
  const double rest = next_down(delta.value() - sums.delta);
  if (!(rest > 0)) return too_small(sums.delta);
  const double spread = std::sqrt(mul_up(-2 * std::log(rest), sums.squares)) * (1 + 0x1p-50);
  return add_up(spread, sums.drift);
}

Result<double> advanced_epsilon(const Events& events, Delta delta) {
  const double formula = TRY(advanced_formula(events, delta));
  return std::min(formula, TRY(sums_of(events)).epsilon);
}

}  // namespace parley::privacy
