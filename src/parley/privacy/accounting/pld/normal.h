// Masses of the normal distribution, with the same bits on every machine, to a few units in the
// last place also in thin slices.
#pragma once

#include <cmath>

#include "parley/base/math/normal.h"
#include "parley/base/math/portable.h"

namespace parley::privacy {

/// At least the mass below x, and less than 2^-48 of it more.
inline double normal_below(double x) { return normal_above(-x) * (1 + 0x1p-49); }

/// The mass of (m - h, m + h] over 2 h times the density at m, for h (1 + |m|) < 1/4: the Taylor
/// series around m, whose terms are Hermite polynomials, up to what is below 2e-18.
inline double normal_mean(double m, double h) {
  const double s = m * m, w = 4 * h * h;
  if (h * (1 + std::abs(m)) < 0.01) return 1 + w * ((s - 1) / 24 + w * ((s - 6) * s + 3) / 1920);
  double before = 1, here = m * h, sum = 1, factor = 1;  // He_(n-1) h^(n-1), He_n h^n, 1 / (n+1)!
  for (int n = 1; n < 15; ++n) {
    factor /= n + 1;
    if (n % 2 == 0) sum += here * factor;
    const double next = m * h * here - n * h * h * before;
    before = here, here = next;
  }
  return sum;
}

/// Of (a, b], within 2^-47 of it. Of a thin slice a difference of two tails would leave nothing.
inline double normal_between(double a, double b) {
  constexpr double kOverRootTwoPi = 0x1.9884533d43651p-2;
  const double h = (b - a) / 2, m = a + h;
  if (h * (1 + std::abs(m)) < 0.25) {
    const double square = m * m, lost = std::fma(m, m, -square) / 2 + m * (a - m + h);
    return portable_exp(-square / 2) * (1 - lost) * kOverRootTwoPi * 2 * h * normal_mean(m, h);
  }
  return m > 0 ? normal_above(a) - normal_above(b) : normal_above(-b) - normal_above(-a);
}

/// A z with less than `tail` of the mass above it.
inline double normal_quantile_bound(double tail) { return std::sqrt(-2 * portable_log(tail)); }

}  // namespace parley::privacy
