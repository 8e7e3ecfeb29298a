// From Renyi divergence to (epsilon, delta), tightly (Canonne, Kamath, Steinke 2020, Proposition
// 12): with RDP(alpha) of order alpha > 1,
//
//   delta <= exp((alpha-1)(RDP(alpha) - eps)) (1-1/alpha)^alpha / (alpha-1).
//
// Every alpha gives a valid bound, so an imperfect minimum over alpha is on the safe side.
#pragma once

#include <algorithm>
#include <cmath>

#include "parley/privacy/units.h"

namespace parley::privacy {

/// The minimum of `bound` over x in [-8, 14]; orders are alpha = 1 + exp(x). A grid, then a golden
/// section around its best point.
template <class Bound>
double minimum_over_orders(const Bound& bound) {
  constexpr double kStep = 0.05, kFirst = -8, kLast = 14;
  double best = kFirst, least = bound(kFirst);
  for (double x = kFirst + kStep; x <= kLast; x += kStep)
    if (const double value = bound(x); value < least) best = x, least = value;
  double low = best - kStep, high = best + kStep;
  constexpr double kGolden = 0.6180339887498949;
  double left = high - kGolden * (high - low), right = low + kGolden * (high - low);
  double at_left = bound(left), at_right = bound(right);
  for (int i = 0; i < 60; ++i) {
    if (at_left < at_right) {
      high = right, right = left, at_right = at_left;
      at_left = bound(left = high - kGolden * (high - low));
    } else {
      low = left, left = right, at_left = at_right;
      at_right = bound(right = low + kGolden * (high - low));
    }
  }
  return std::min({least, at_left, at_right});
}

/// `renyi(alpha)` is never below the divergence; infinity where it is not known.
template <class Renyi>
double epsilon_of(const Renyi& renyi, Delta delta) {
  const double log_delta = std::log(delta.value());
  const double least = minimum_over_orders([&](double x) {
    const double above_one = std::exp(x), alpha = 1 + above_one;
    return renyi(alpha) + std::log(above_one / alpha) - (log_delta + std::log(alpha)) / above_one;
  });
  // exp, log and the sum err by a few units in the last place: stay above them.
  return std::max(0.0, least) * (1 + 0x1p-46) + 0x1p-60;
}

template <class Renyi>
double delta_of(const Renyi& renyi, double epsilon) {
  const double least = minimum_over_orders([&](double x) {
    const double above_one = std::exp(x), alpha = 1 + above_one;
    return above_one * (renyi(alpha) - epsilon) + alpha * std::log(above_one / alpha) - x;
  });
  return std::min(1.0, std::exp(least) * (1 + 0x1p-46 * (1 + std::abs(least))));
}

}  // namespace parley::privacy
