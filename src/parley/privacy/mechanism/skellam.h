// The Skellam mechanism: the difference of two Poisson numbers on every coordinate, concentrated
// differential privacy for sums bounded in L2. Sums of Skellam noise are Skellam noise, whoever
// drops out, which discrete Gaussians are not.
//
// If a neighbour's integer sum differs by d, ||d||_2 <= D2 and ||d||_1 <= D1, then with the
// variance v the mechanism is (D2^2 + D1)(1/v + 9/(4 v^2))/2-zCDP:
// docs/explanation/mechanisms/skellam.md proves that for all orders. The bound of Agarwal, Kairouz,
// Liu 2021 is for whole orders only, which the conversion of a ledger's rho does not keep to.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "parley/base/math/norm.h"
#include "parley/base/math/number.h"
#include "parley/privacy/accounting/shares.h"
#include "parley/privacy/mechanism.h"
#include "parley/privacy/mechanism/parties.h"
#include "parley/privacy/poisson.h"
#include "parley/privacy/units.h"

namespace parley::privacy {

/// The noise of one owner, or of one of several `shares` that are surely in a sum: what is drawn is
/// one of them, what is charged is their sum.
class Skellam {
 public:
  using Norm = L2;
  static constexpr std::string_view kName = "skellam";
  static constexpr double kVarianceMin = 16, kVarianceMax = 0x1p60;

  /// `variance` is in lattice units squared: an even number.
  static Result<Skellam> make(double variance, size_t dimension) {
    if (!(variance >= kVarianceMin && variance <= kVarianceMax && std::fmod(variance, 2) == 0))
      return Error{Code::kInvalid,
                   "the Skellam variance is not an even number in 2^4 .. 2^60 lattice units",
                   "Use a larger epsilon, fewer rounds or fewer grid bits."};
    if (dimension < 1) return Error{Code::kInvalid, "Skellam noise needs a coordinate"};
    return Skellam(variance, dimension);
  }

  /// The smallest variance found at which `answers` releases with the noise of `shares` together
  /// cost at most `total`, as the ledger adds them up. Its cost was computed.
  static Result<Skellam> calibrate(double sensitivity, uint32_t answers, Rho total,
                                   size_t dimension, uint32_t shares = 1) {
    check(sensitivity >= 1 && answers >= 1 && shares >= 1);
    const double spread = std::sqrt(static_cast<double>(dimension));  // of L1 over L2, at most
    const double squares = sensitivity * (sensitivity + std::fmin(spread, sensitivity)) * answers;
    double half = std::fmax(kVarianceMin / 2, std::ceil(squares / (4 * total.value()) / shares));
    for (double step = 0x1p-50;; step *= 2) {
      const Skellam skellam = TRY(make(2 * half, dimension));
      double spent = 0;
      for (uint32_t i = 0; i < answers; ++i)
        spent = add_up(spent, skellam.cost(sensitivity, shares).amount);
      if (spent <= total.value()) return skellam;
      half = std::floor(half * (1 + step)) + 1;
    }
  }

  double variance() const { return variance_; }
  size_t dimension() const { return dimension_; }
  /// The standard deviation, for reports.
  double scale() const { return std::sqrt(variance_); }
  int64_t sample(Entropy& entropy) const { return sampler_.sample(entropy); }
  Cost cost(double sensitivity, uint32_t shares = 1) const {
    return {Track::kZcdp, skellam_rho({sum_of(shares), double(dimension_), sensitivity})};
  }
  std::string event(double sensitivity, uint32_t shares = 1) const {
    return "{\"skellam\":{\"dimension\":" + std::to_string(dimension_) +
           ",\"sensitivity\":" + shortest(sensitivity) +
           ",\"variance\":" + shortest(sum_of(shares)) + "}}";
  }

 private:
  Skellam(double variance, size_t dimension)
      : variance_(variance), dimension_(dimension), sampler_(static_cast<uint64_t>(variance)) {}
  /// The variance of so many together; what does not fit a double is rounded down.
  double sum_of(uint32_t shares) const {
    const double sum = variance_ * shares;
    return std::fma(variance_, shares, -sum) < 0 ? next_down(sum) : sum;
  }
  double variance_;
  size_t dimension_;
  SkellamNoise sampler_;
};

/// One owner's share of Skellam noise in a sum that nobody sees in parts; charged for the shares
/// that are surely in it. Like GaussianShare it is not for an answer that leaves alone.
class SkellamShare {
 public:
  using Norm = L2;
  static constexpr std::string_view kName = "skellam_shares";

  SkellamShare(const Skellam& share, const Parties& parties) : share_(share), parties_(parties) {}

  static Result<SkellamShare> calibrate(double sensitivity, uint32_t answers, Rho total,
                                        const Parties& parties, size_t dimension) {
    const Skellam share =
        TRY(Skellam::calibrate(sensitivity, answers, total, dimension, parties.honest()));
    return SkellamShare(share, parties);
  }

  double variance() const { return share_.variance(); }
  const Parties& parties() const { return parties_; }
  size_t dimension() const { return share_.dimension(); }
  /// The standard deviation of the noise that is surely in the sum, for reports.
  double scale() const { return std::sqrt(variance() * parties_.honest()); }
  int64_t sample(Entropy& entropy) const { return share_.sample(entropy); }
  Cost cost(double sensitivity) const { return share_.cost(sensitivity, parties_.honest()); }
  std::string event(double sensitivity) const {
    return share_.event(sensitivity, parties_.honest());
  }

 private:
  Skellam share_;
  Parties parties_;
};

static_assert(Mechanism<Skellam> && Mechanism<SkellamShare>);

}  // namespace parley::privacy
