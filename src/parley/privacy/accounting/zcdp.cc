#include "parley/privacy/accounting/zcdp.h"

#include <algorithm>
#include <cmath>

namespace parley::privacy {
namespace {

/// The bound at one order, alpha = 1 + exp(x).
double epsilon_at(double x, double rho, double log_delta) {
  const double above_one = std::exp(x), alpha = 1 + above_one;
  return rho * alpha + std::log(above_one / alpha) - (log_delta + std::log(alpha)) / above_one;
}

}  // namespace

double zcdp_epsilon(double rho, Delta delta) {
  check(rho >= 0);
  if (rho == 0) return 0;
  const double log_delta = std::log(delta.value());
  const auto bound = [&](double x) { return epsilon_at(x, rho, log_delta); };
  constexpr double kStep = 0.05, kFirst = -8, kLast = 14;
  double best = kFirst;
  for (double x = kFirst; x <= kLast; x += kStep)
    if (bound(x) < bound(best)) best = x;
  double low = best - kStep, high = best + kStep;  // The minimum is in here: golden section.
  constexpr double kGolden = 0.6180339887498949;
  for (int i = 0; i < 80; ++i) {
    const double left = high - kGolden * (high - low), right = low + kGolden * (high - low);
    (bound(left) < bound(right) ? high : low) = bound(left) < bound(right) ? right : left;
  }
  // exp, log and the sum err by a few units in the last place: stay above them.
  return std::max(0.0, bound((low + high) / 2)) * (1 + 0x1p-46) + 0x1p-60;
}

double zcdp_rho(double epsilon, Delta delta) {
  if (epsilon <= 0) return 0;
  double low = 0, high = 1;
  while (zcdp_epsilon(high, delta) < epsilon) high *= 2;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) break;
    (zcdp_epsilon(middle, delta) <= epsilon ? low : high) = middle;
  }
  return low;
}

}  // namespace parley::privacy
