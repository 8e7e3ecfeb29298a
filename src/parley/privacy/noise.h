// Exact noise from integers only: no floating point stands between the entropy and the sample
// (Canonne, Kamath, Steinke 2020, "The Discrete Gaussian for Differential Privacy", Algorithms
// 1-3).
//
// How many words a sample takes depends on the sample, so noise is drawn ahead of a query, never
// while someone measures the answer's time.
#pragma once

#include <cstdint>

#include "parley/base/entropy.h"
#include "parley/privacy/uint256.h"

namespace parley::privacy {

/// Uniform on 0 .. n-1, n > 0. Takes as many words as n - 1 needs, low word first, and rejects the
/// incomplete last block, so every value has exactly the same probability.
Uint256 below(Entropy& entropy, const Uint256& n);

/// True with probability exactly exp(-a/b), for b > 0 that is not 2^64, 2^128 or 2^192.
bool bernoulli_exp(Entropy& entropy, const Uint256& a, const Uint256& b);

/// The largest scale of discrete noise, in lattice units; charters that need more are refused.
inline constexpr uint64_t kScaleMax = uint64_t{1} << 56;

/// k with probability proportional to exp(-|k| / scale), 0 < scale <= kScaleMax. At scale 2^56 a
/// sample that does not fit 63 bits has probability below exp(-127), and ends the process instead
/// of wrapping.
int64_t discrete_laplace(Entropy& entropy, uint64_t scale);

/// k with probability proportional to exp(-k^2 / (2 variance)): discrete Laplace noise of nearly
/// the same width, thinned out. It multiplies numbers of about variance^2, hence 256 bits.
class DiscreteGaussian {
 public:
  static constexpr Uint128 kVarianceMax = (Uint128{1} << 112) - 1;  // scales up to kScaleMax

  /// The parameter is numerator / denominator; from 4 on it is the variance up to a negligible
  /// difference. 0 < numerator / denominator <= kVarianceMax, 0 < denominator <= 2^8.
  explicit DiscreteGaussian(Uint128 numerator, uint64_t denominator = 1);
  int64_t sample(Entropy& entropy) const;

 private:
  bool keeps(Entropy& entropy, uint64_t size) const;
  Uint128 numerator_;
  uint64_t denominator_;
  uint64_t scale_;  // floor(sqrt(variance)) + 1
  Uint256 divisor_;
};

}  // namespace parley::privacy
