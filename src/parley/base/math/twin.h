// Numbers with some 100 binary digits, as sums of two doubles, with the same bits on every machine:
// a long double has 64 digits on one processor and 113 on another. Dekker 1971; Hida, Li, Bailey
// 2001.
#pragma once

#include <cmath>

namespace parley {

struct Twin {
  double high = 0, low = 0;  // |low| is at most half a unit in the last place of high

  /// The exact sum and product of doubles.
  static Twin sum(double a, double b) {
    const double s = a + b, part = s - a;
    return {s, (a - (s - part)) + (b - part)};
  }
  static Twin product(double a, double b) {
    const double p = a * b;
    return {p, std::fma(a, b, -p)};
  }
  /// high + low, where |low| may be larger, but is below |high|.
  static Twin joined(double high, double low) {
    const double s = high + low;
    return {s, low - (s - high)};
  }

  Twin operator-() const { return {-high, -low}; }
};

inline Twin operator+(const Twin& a, const Twin& b) {
  const Twin high = Twin::sum(a.high, b.high), low = Twin::sum(a.low, b.low);
  const Twin first = Twin::joined(high.high, high.low + low.high);
  return Twin::joined(first.high, first.low + low.low);
}
inline Twin operator-(const Twin& a, const Twin& b) { return a + -b; }
inline Twin operator*(const Twin& a, const Twin& b) {
  const Twin high = Twin::product(a.high, b.high);
  return Twin::joined(high.high, high.low + (a.high * b.low + a.low * b.high));
}
inline Twin operator/(const Twin& a, const Twin& b) {
  const double first = a.high / b.high;
  const Twin left = a - b * Twin{first};
  const double second = left.high / b.high;
  const double third = (left - b * Twin{second}).high / b.high;
  return Twin::joined(first, second) + Twin{third};
}

/// A number times a power of two.
struct Scaled {
  Twin value;
  int exponent;
};

/// e^x for |x| < 2^20, within 2^-90 of it.
inline Scaled scaled_exp(const Twin& x) {
  constexpr Twin kLogTwo{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
  constexpr double kLogTwoRest = 0x1.7b57a079a1934p-111;
  const double k = std::nearbyint(x.high * 1.4426950408889634);
  const Twin r = x - kLogTwo * Twin{k} - Twin{kLogTwoRest * k};
  Twin sum{1};  // |r| < .35: the series ends below 2^-96
  for (int n = 22; n > 0; --n) sum = Twin{1} + sum * r / Twin{double(n)};
  return {sum, static_cast<int>(k)};
}
inline Twin exp(const Twin& x) {
  const Scaled found = scaled_exp(x);
  return {std::ldexp(found.value.high, found.exponent),
          std::ldexp(found.value.low, found.exponent)};
}

}  // namespace parley
