#include "parley/privacy/accounting/calibrate.h"

#include <algorithm>
#include <cmath>

namespace parley::privacy {
namespace {

/// A point of the search, on scales on which the curve is nearly straight.
struct Point {
  double log_factor, log_ratio;  // ln(epsilon / target): at most 0 is safe
  double epsilon;
};

/// Where a straight line through both ends crosses zero, kept off the ends.
double between(const Point& low, const Point& high) {
  const double part = low.log_ratio / (low.log_ratio - high.log_ratio);
  return low.log_factor + std::clamp(part, 0.02, 0.98) * (high.log_factor - low.log_factor);
}

}  // namespace

Result<Events> with_noise_times(const Events& events, double factor) {
  Events changed = events;
  for (Repeated& repeated : changed) {
    if (auto* e = std::get_if<GaussianEvent>(&repeated.event))
      e->noise_multiplier *= factor;
    else if (auto* e = std::get_if<LaplaceEvent>(&repeated.event))
      e->noise_multiplier *= factor;
    else if (auto* e = std::get_if<SampledGaussianEvent>(&repeated.event))
      e->noise_multiplier *= factor;
    else if (auto* e = std::get_if<DiscreteLaplaceEvent>(&repeated.event))
      e->scale *= factor;
    else if (auto* e = std::get_if<DiscreteGaussianEvent>(&repeated.event))
      e->sigma *= factor;
    else if (auto* e = std::get_if<SharesEvent>(&repeated.event))
      e->variance *= factor * factor;
    else if (auto* e = std::get_if<SkellamEvent>(&repeated.event))
      e->variance *= factor * factor;
    else
      return Error{Code::kInvalid, "zcdp and approximate_dp events have no noise to calibrate"};
  }
  return changed;
}

Result<Calibrated> calibrate(const Events& events, const Accountant& accountant, Epsilon target,
                             Delta delta, Adjacency adjacency) {
  const auto evaluate = [&](double log_factor) -> Result<Point> {
    const Events changed = TRY(with_noise_times(events, std::exp(log_factor)));
    // Infinite where so little noise has no bound; the search goes on with a large number.
    const double epsilon = std::min(TRY(accountant.epsilon(changed, delta, adjacency)), 1e300);
    const double ratio = std::log(std::max(epsilon, 1e-12 * target.value()) / target.value());
    return Point{log_factor, epsilon <= target.value() ? std::min(ratio, 0.0) : ratio, epsilon};
  };
  Point low = TRY(evaluate(0)), high = low;
  for (double step = 0.7; low.log_ratio <= 0; step *= 2) {  // too little noise ...
    if (step > 100) return Calibrated{std::exp(high.log_factor), high.epsilon};
    high = low, low = TRY(evaluate(low.log_factor - step));
  }
  for (double step = 0.7; high.log_ratio > 0; step *= 2) {  // ... and enough
    if (step > 100)
      return Error{Code::kInvalid, "no amount of noise reaches this epsilon at this delta"};
    low = high, high = TRY(evaluate(high.log_factor + step));
  }
  for (int i = 0; i < 100 && high.log_factor - low.log_factor > 1e-7; ++i) {
    if (high.log_ratio > -1e-8) break;
    const bool halve = i % 3 == 2;  // A straight line may creep towards one end.
    const double next = halve ? (low.log_factor + high.log_factor) / 2 : between(low, high);
    const Point point = TRY(evaluate(next));
    (point.log_ratio <= 0 ? high : low) = point;
  }
  return Calibrated{std::exp(high.log_factor), high.epsilon};
}

}  // namespace parley::privacy
