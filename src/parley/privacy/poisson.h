// Exact Poisson noise of a whole mean, and Skellam noise, the difference of two such: integers only
// from the entropy to the sample, and an effort that does not grow with the mean.
//
// Relative to the mode, the weight of m + j is the product of m/(m+i), i <= j, and that of m - 1 -
// j the product of (m-i)/m. A proposal is flat for h values on either side, and then falls off
// geometrically, on the right as m/(m+h), on the left as (m-h)/m. What is left to accept is in
// either case a product of the same form (poisson.cc); its coin is tossed without looking at the
// factors one by one.
#pragma once

#include <cstdint>

#include "parley/base/entropy.h"

namespace parley::privacy {

class Poisson {
 public:
  static constexpr uint64_t kMeanMin = 4, kMeanMax = uint64_t{1} << 60;

  explicit Poisson(uint64_t mean);
  uint64_t mean() const { return mean_; }
  /// At mean 2^60 a sample that does not fit 63 bits has probability below exp(-2^62), and ends the
  /// process.
  int64_t sample(Entropy& entropy) const;

 private:
  uint64_t geometric(Entropy& entropy, uint64_t mean) const;
  bool accepts(Entropy& entropy, uint64_t distance, bool above) const;
  uint64_t mean_;
  uint64_t flat_;  // h, about the standard deviation: exact for any, fastest there
};

/// P(k) = exp(-v) I_k(v) with the variance v, an even number; symmetric about 0.
class SkellamNoise {
 public:
  explicit SkellamNoise(uint64_t variance);
  int64_t sample(Entropy& entropy) const {
    const int64_t plus = half_.sample(entropy);
    return plus - half_.sample(entropy);
  }

 private:
  Poisson half_;
};

}  // namespace parley::privacy
