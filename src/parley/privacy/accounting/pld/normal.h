// Masses of the normal distribution, to a few units in the last place also in thin slices.
#pragma once

#include <cmath>
#include <numbers>

namespace parley::privacy {

inline double normal_below(double x) { return std::erfc(-x * std::numbers::sqrt2 / 2) / 2; }

/// Of (a, b]. A difference of two tails would leave nothing of a thin slice; its Taylor series
/// around the middle does: error below (|m| w)^6 / 322560 of it.
inline double normal_between(double a, double b) {
  const double width = b - a, m = a + width / 2, s = m * m, w = width * width;
  if (width * (1 + std::abs(m)) < 0.02) {
    const double series = 1 + w * ((s - 1) / 24 + w * ((s - 6) * s + 3) / 1920);
    return std::exp(-s / 2) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2) * width * series;
  }
  return m > 0 ? normal_below(-a) - normal_below(-b) : normal_below(b) - normal_below(a);
}

/// A z with less than `tail` of the mass above it.
inline double normal_quantile_bound(double tail) { return std::sqrt(-2 * std::log(tail)); }

}  // namespace parley::privacy
