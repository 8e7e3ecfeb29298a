// The discrete Laplace mechanism: pure differential privacy for sums bounded in L1.
//
// Noise with P(k) proportional to exp(-|k|/t) on every coordinate. If a neighbour's integer sum
// differs by d, ||d||_1 <= D, then P(output)/P'(output) = prod exp((|k_j + d_j| - |k_j|)/t)
// <= exp(||d||_1 / t) <= exp(D/t): the mechanism is D/t-differentially private, exactly, for every
// shift d (Ghosh, Roughgarden, Sundararajan 2009; Canonne, Kamath, Steinke 2020, section 5).
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "parley/base/math/norm.h"
#include "parley/base/math/number.h"
#include "parley/privacy/mechanism.h"
#include "parley/privacy/noise.h"
#include "parley/privacy/units.h"

namespace parley::privacy {

class Laplace {
 public:
  using Norm = L1;
  static constexpr std::string_view kName = "laplace";

  /// `scale` is t, in lattice units.
  static Result<Laplace> make(uint64_t scale) {
    if (scale == 0 || scale > kScaleMax)
      return Error{Code::kInvalid, "the Laplace scale is outside 1 .. 2^56 lattice units",
                   "Use a larger epsilon, fewer rounds or fewer grid bits."};
    return Laplace(scale);
  }

  /// The smallest scale found at which `answers` releases of sums with this sensitivity cost at
  /// most `total`, as the ledger adds them up. Its cost was computed: rounding only adds noise.
  static Result<Laplace> calibrate(double sensitivity, uint32_t answers, Epsilon total) {
    check(sensitivity >= 1 && answers >= 1);
    double scale = std::ceil(div_up(mul_up(sensitivity, answers), total.value()));
    for (;; scale = std::ceil(scale * (1 + 0x1p-50) + 1)) {
      const Laplace laplace = TRY(make(scale <= double(kScaleMax) ? uint64_t(scale) : 0));
      double spent = 0;
      for (uint32_t i = 0; i < answers; ++i)
        spent = add_up(spent, laplace.cost(sensitivity).amount);
      // The decimal epsilon that a person wrote may lie half a step below its double.
      if (spent <= next_down(total.value())) return laplace;
    }
  }

  uint64_t scale() const { return scale_; }
  int64_t sample(Entropy& entropy) const { return discrete_laplace(entropy, scale_); }
  Cost cost(double sensitivity) const {
    return {Track::kPure, div_up(sensitivity, static_cast<double>(scale_))};
  }
  std::string event(double sensitivity) const {
    const double multiplier = next_down(static_cast<double>(scale_) / sensitivity);
    return "{\"laplace\":{\"noise_multiplier\":" + shortest(multiplier) +
           ",\"scale\":" + std::to_string(scale_) + ",\"sensitivity\":" + shortest(sensitivity) +
           "}}";
  }

 private:
  explicit Laplace(uint64_t scale) : scale_(scale) {}
  uint64_t scale_;
};

static_assert(Mechanism<Laplace>);

/// The scale b = 2 Xi T kappa / (n epsilon) of the papers' Theorem 1, on the mean of n records and
/// under replace-one; for reports and forecasts. What is drawn is Laplace::calibrate, on the
/// lattice.
inline double laplace_scale(double max_grad_norm, double answers, double rows, Epsilon epsilon,
                            double overlap = 1) {
  return 2 * max_grad_norm * answers * overlap / (rows * epsilon.value());
}

}  // namespace parley::privacy
