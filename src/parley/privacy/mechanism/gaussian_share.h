// Sums of discrete Gaussians over owners: every owner draws a share of the noise, and only the sum
// of all answers leaves.
//
// Of m owners at least s are in the sum and at most c of them share what they know, so n = s - c
// shares of variance v protect it. A sum of discrete Gaussians is not one, but the sum is
// (1/2) e^2-zCDP with e of accounting/shares.h (Kairouz, Liu, Steinke 2021, theorem 1).
//
// A share alone protects less than it is charged for. So it is listed among the SharedMechanisms
// (mechanisms.h), and no ledger makes a Released of it.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "parley/base/math/norm.h"
#include "parley/base/math/number.h"
#include "parley/privacy/accounting/shares.h"
#include "parley/privacy/mechanism.h"
#include "parley/privacy/mechanism/parties.h"
#include "parley/privacy/noise.h"
#include "parley/privacy/units.h"

namespace parley::privacy {

class GaussianShare {
 public:
  using Norm = L2;
  static constexpr std::string_view kName = "gaussian_shares";
  static constexpr double kVarianceMin = 16;  // Below, sums are no longer close to Gaussian.

  /// `variance` is that of one share, in lattice units squared: whole, and exact in a double.
  static Result<GaussianShare> make(double variance, const Parties& parties, size_t dimension) {
    if (!(variance >= kVarianceMin && variance < 0x1p112 && variance == std::floor(variance)))
      return Error{Code::kInvalid,
                   "the variance of a share is not a whole number in 2^4 .. 2^112 lattice units",
                   "Use a larger epsilon, fewer rounds or another number of grid bits."};
    if (dimension < 1) return Error{Code::kInvalid, "a sum of shares needs a coordinate"};
    return GaussianShare(variance, parties, dimension);
  }

  /// The smallest share found at which `answers` releases of the sum cost at most `total`, as the
  /// ledger adds them up; for wide shares V / (s - c), V the variance of one owner alone. Its cost
  /// was computed: rounding only adds noise.
  static Result<GaussianShare> calibrate(double sensitivity, uint32_t answers, Rho total,
                                         const Parties& parties, size_t dimension) {
    check(sensitivity >= 1 && answers >= 1);
    const double squares = mul_up(mul_up(sensitivity, sensitivity), answers);
    const double whole = div_up(squares, 2 * total.value());
    double variance = std::fmax(kVarianceMin, std::ceil(div_up(whole, parties.honest())));
    for (double step = 0x1p-50;; step *= 2) {
      const GaussianShare share = TRY(make(variance, parties, dimension));
      double spent = 0;
      for (uint32_t i = 0; i < answers; ++i) spent = add_up(spent, share.cost(sensitivity).amount);
      if (spent <= total.value()) return share;
      variance = std::ceil(variance * (1 + step) + 1);
    }
  }

  double variance() const { return variance_; }
  const Parties& parties() const { return parties_; }
  size_t dimension() const { return dimension_; }
  /// The standard deviation of the noise that is surely in the sum, for reports.
  double scale() const { return std::sqrt(variance_ * parties_.honest()); }
  int64_t sample(Entropy& entropy) const { return sampler_.sample(entropy); }
  Cost cost(double sensitivity) const {
    return {Track::kZcdp, share_sum_rho(SharesEvent{variance_, parties_.honest(), parties_.present,
                                                    static_cast<double>(dimension_), sensitivity})};
  }
  std::string event(double sensitivity) const {
    return "{\"gaussian_shares\":{\"dimension\":" + std::to_string(dimension_) +
           ",\"honest\":" + std::to_string(parties_.honest()) +
           ",\"present\":" + std::to_string(parties_.present) +
           ",\"sensitivity\":" + shortest(sensitivity) + ",\"variance\":" + shortest(variance_) +
           "}}";
  }

 private:
  GaussianShare(double variance, const Parties& parties, size_t dimension)
      : variance_(variance),
        parties_(parties),
        dimension_(dimension),
        sampler_(static_cast<Uint128>(variance)) {}
  double variance_;
  Parties parties_;
  size_t dimension_;
  DiscreteGaussian sampler_;
};

static_assert(Mechanism<GaussianShare>);

}  // namespace parley::privacy
