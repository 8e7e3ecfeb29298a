// The discrete Gaussian mechanism: concentrated differential privacy for sums bounded in L2.
//
// Noise with P(k) proportional to exp(-k^2 / (2 s2)) on every coordinate. If a neighbour's integer
// sum differs by d, ||d||_2 <= D, the Renyi divergence of every order alpha is at most
// alpha D^2 / (2 s2), for every shift d: the mechanism is D^2 / (2 s2)-zCDP (Canonne, Kamath,
// Steinke 2020, theorem 14 on every coordinate, added up).
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

class Gaussian {
 public:
  using Norm = L2;
  static constexpr std::string_view kName = "gaussian";
  static constexpr double kVarianceMin = 16;  // Below, the lattice is coarser than the noise.

  /// `variance` is s2, in lattice units squared: a whole number that a double holds exactly, so
  /// that what is accounted is what is drawn.
  static Result<Gaussian> make(double variance) {
    if (!(variance >= kVarianceMin && variance < 0x1p112 && variance == std::floor(variance)))
      return Error{Code::kInvalid,
                   "the Gaussian variance is not a whole number in 2^4 .. 2^112 lattice units",
                   "Use a larger epsilon, fewer rounds or fewer grid bits."};
    return Gaussian(variance);
  }

  /// The smallest variance found at which `answers` releases of sums with this sensitivity cost at
  /// most `total`, as the ledger adds them up. Its cost was computed: rounding only adds noise.
  static Result<Gaussian> calibrate(double sensitivity, uint32_t answers, Rho total) {
    check(sensitivity >= 1 && answers >= 1);
    const double squares = mul_up(mul_up(sensitivity, sensitivity), answers);
    double variance = std::fmax(kVarianceMin, std::ceil(div_up(squares, 2 * total.value())));
    for (;; variance = std::ceil(variance * (1 + 0x1p-50) + 1)) {
      const Gaussian gaussian = TRY(make(variance));
      double spent = 0;
      for (uint32_t i = 0; i < answers; ++i)
        spent = add_up(spent, gaussian.cost(sensitivity).amount);
      if (spent <= total.value()) return gaussian;
    }
  }

  double variance() const { return variance_; }
  /// The standard deviation, for reports.
  double scale() const { return std::sqrt(variance_); }
  int64_t sample(Entropy& entropy) const { return sampler_.sample(entropy); }
  Cost cost(double sensitivity) const {
    return {Track::kZcdp, div_up(mul_up(sensitivity, sensitivity), 2 * variance_)};
  }
  std::string event(double sensitivity) const {
    const double multiplier = next_down(next_down(scale()) / sensitivity);
    return "{\"gaussian\":{\"noise_multiplier\":" + shortest(multiplier) +
           ",\"sensitivity\":" + shortest(sensitivity) + ",\"variance\":" + shortest(variance_) +
           "}}";
  }

 private:
  explicit Gaussian(double variance)
      : variance_(variance), sampler_(static_cast<Uint128>(variance)) {}
  double variance_;
  DiscreteGaussian sampler_;
};

static_assert(Mechanism<Gaussian>);

}  // namespace parley::privacy
