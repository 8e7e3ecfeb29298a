// Hinge loss: the linear support vector machine.
#pragma once

#include "parley/learn/loss/concept.h"

namespace parley::learn {

/// max(0, 1 - y u) for y = -1, +1; at the kink the slope is 0.
struct Hinge {
  static constexpr std::string_view kName = "hinge";
  static constexpr bool kTwoClasses = true;
  ClassWeights weights{};

  double value(double score, double label) const {
    const double short_by = 1 - label * score;
    return weights.of(label) * (short_by < 0 ? 0.0 : short_by);  // NaN passes.
  }
  double slope(double score, double label) const {
    return weights.of(label) * (label * score < 1 ? -label : 0.0);  // NaN gives 0.
  }
  double curvature(double, double) const { return 0; }
  double smoothness() const { return kUnbounded; }
  double lipschitz() const { return weights.largest(); }
  bool operator==(const Hinge&) const = default;
};
static_assert(Loss<Hinge>);

}  // namespace parley::learn
