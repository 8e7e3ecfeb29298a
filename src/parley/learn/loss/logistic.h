// Logistic loss: logistic regression.
#pragma once

#include <cmath>

#include "parley/learn/loss/concept.h"
#include "parley/learn/loss/exp.h"

namespace parley::learn {

/// log(1 + e^(-y u)) for y = -1, +1.
struct Logistic {
  static constexpr std::string_view kName = "logistic";
  static constexpr bool kTwoClasses = true;
  ClassWeights weights{};

  double value(double score, double label) const {
    const double margin = label * score;
    const double linear = margin < 0 ? -margin : 0.0;
    return weights.of(label) * (linear + pure_softplus(std::fabs(margin)));
  }
  double slope(double score, double label) const {
    return weights.of(label) * (-label * pure_sigmoid(-label * score));
  }
  double curvature(double score, double label) const {
    const double e = pure_exp(-std::fabs(score));  // Even in the margin.
    return weights.of(label) * (e / ((1 + e) * (1 + e)));
  }
  double smoothness() const { return weights.largest() / 4; }
  double lipschitz() const { return weights.largest(); }
  bool operator==(const Logistic&) const = default;
};
static_assert(Loss<Logistic>);

}  // namespace parley::learn
