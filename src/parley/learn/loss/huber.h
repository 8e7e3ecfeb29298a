// Huber's loss: squared near the label and linear beyond, so that a few outlying labels do not
// dominate the model.
#pragma once

#include <cmath>

#include "parley/learn/loss/concept.h"

namespace parley::learn {

/// r^2 for |r| <= delta, else 2 delta |r| - delta^2, with r = u - y: the squared loss of this
/// library where it is curved, and the same as it for a large delta.
struct Huber {
  static constexpr std::string_view kName = "huber";
  static constexpr bool kTwoClasses = false;
  double delta = 1;

  double value(double score, double label) const {
    const double size = std::fabs(score - label);
    return size <= delta ? size * size : delta * (2 * size - delta);
  }
  double slope(double score, double label) const {
    double residual = score - label;
    residual = residual > delta ? delta : residual;
    residual = residual < -delta ? -delta : residual;
    return 2 * residual;
  }
  double curvature(double score, double label) const {
    return std::fabs(score - label) <= delta ? 2 : 0;
  }
  double smoothness() const { return 2; }
  double lipschitz() const { return 2 * delta; }
  bool operator==(const Huber&) const = default;
};
static_assert(Loss<Huber>);

}  // namespace parley::learn
