// Expectations of a loss and of its clipped slope under a normal score (spec, horizontal 4.4), and
// the moments of a normal number that was clamped.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include "parley/learn/loss.h"

namespace parley::forecast {

inline double normal_density(double x) {
  return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
}
/// P(N(0,1) <= x).
inline double normal_share(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

/// u ~ N(mean, deviation^2), and the label that belongs to it.
struct Score {
  double mean = 0;
  double deviation = 0;
  double label = 0;
};

struct ExpectedLoss {
  double value = 0;      // of the loss as it is
  double slope = 0;      // of its slope, clamped to +-limit
  double curvature = 0;  // of the clamped slope's derivative
};

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();
inline constexpr double kTinyDeviation = 1e-9;  // below, a normal number is a number
inline constexpr double kKinkWidth = .003;      // of the kernel through which a kink is seen

ExpectedLoss expected(const learn::Squared& loss, const Score& score, double limit = kNoLimit);
ExpectedLoss expected(const learn::Huber& loss, const Score& score, double limit = kNoLimit);
/// The kink is seen through a normal kernel at least 0.003 wide, which the specification chose on
/// its grid of 4.5.
ExpectedLoss expected(const learn::Hinge& loss, const Score& score, double limit = kNoLimit);
/// By Gauss-Hermite quadrature at up to 15 points.
ExpectedLoss expected(const learn::Logistic& loss, const Score& score, double limit = kNoLimit);
/// Mean and variance of N(mean, variance) clamped to +-box, and how much of a small shift passes.
struct Clamped {
  double mean = 0;
  double variance = 0;
  double gain = 1;
};
Clamped clamped(double mean, double variance, double box);

}  // namespace parley::forecast
