// Squared loss: linear regression.
#pragma once

#include "parley/learn/loss/concept.h"

namespace parley::learn {

/// (u - y)^2, without the half that other texts use.
struct Squared {
  static constexpr std::string_view kName = "squared";
  static constexpr bool kTwoClasses = false;

  double value(double score, double label) const { return (score - label) * (score - label); }
  double slope(double score, double label) const { return 2 * (score - label); }
  double curvature(double, double) const { return 2; }
  double smoothness() const { return 2; }
  double lipschitz() const { return kUnbounded; }
  bool operator==(const Squared&) const = default;
};
static_assert(Loss<Squared>);

}  // namespace parley::learn
