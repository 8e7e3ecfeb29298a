// Every product here is exp(-f) with f = sum c_i E[p_i], where the sum of the c_i is a ratio a/b of
// whole numbers, and coins of probability p_i can be tossed:
//
//   prod_{i<=n} m/(m+i):   ln(1 + i/m)  = (i/m)     E[m / (m + i T)]
//   prod_{i<=n} (m-i)/m:   -ln(1 - i/m) = (i/(m-n)) E[(m-n) / (m - i T)],   n < m
//   (m/(m+h))^n:           n ln(1 + h/m) = (n h/m)  E[m / (m + h T)]
//
// with T uniform in (0, 1): both sides are the integral over T. exp(-a/b) is tossed as in noise.cc,
// by counting heads of coins a/(b k); if every head is confirmed by a coin p, chosen anew with i in
// proportion to c_i, the same count gives exp(-(a/b) E[p]).
#include "parley/privacy/poisson.h"

#include <array>
#include <cmath>

#include "parley/base/result.h"
#include "parley/privacy/noise.h"

namespace parley::privacy {
namespace {

/// Uniform on 0 .. n-1 without a division (Lemire 2019): the high word of n times a word, but for
/// those words that would be one too many for a value. below() takes others, which golden streams
/// hold it to.
inline uint64_t below_word(Entropy& entropy, uint64_t n) {
  Uint128 product = Uint128{entropy.word()} * n;
  if (low_word(product) < n) [[unlikely]] {
    const uint64_t surplus = -n % n;
    while (low_word(product) < surplus) product = Uint128{entropy.word()} * n;
  }
  return high_word(product);
}

/// A uniform real number, of which as many digits are drawn as are looked at.
class Uniform {
 public:
  explicit Uniform(Entropy& entropy) : entropy_(entropy) {}

  /// Is another uniform number below this one? That is a coin with this number as probability.
  bool is_above_another() {
    for (size_t i = 0; i < digits_.size(); ++i) {
      if (i == known_) digits_[known_++] = entropy_.word();
      const uint64_t other = entropy_.word();
      if (other != digits_[i]) return other < digits_[i];
    }
    check(false);  // Once in 2^256 times.
    return false;
  }

 private:
  Entropy& entropy_;
  std::array<uint64_t, 4> digits_{};
  size_t known_ = 0;
};

/// True with probability a / (a + b p), if `coin` has p: what is neither a head nor a return is
/// tossed again.
template <class Coin>
bool ratio_coin(Entropy& entropy, uint64_t a, uint64_t b, Coin coin) {
  for (;;) {
    if (below_word(entropy, a + b) < a) return true;
    if (coin()) return false;
  }
}

inline bool is_head(Entropy& entropy, uint64_t a, uint64_t n) { return below_word(entropy, n) < a; }
bool is_head(Entropy& entropy, Uint128 a, Uint128 n) {
  return is_less(below(entropy, n), Uint256(a));
}

/// exp(-(a/b) p) for a <= b, where 16,000 b fits.
template <class T, class Coin>
bool exp_of_part(Entropy& entropy, T a, T b, Coin& coin) {
  uint64_t k = 1;
  while (is_head(entropy, a, b * k) && coin()) check(++k < 16'000);  // Once in 16,000! times.
  return k % 2 == 1;
}

template <class T, class Coin>
bool exp_of_ratio(Entropy& entropy, T a, T b, Coin& coin) {
  for (; a > b; a -= b)
    if (!exp_of_part(entropy, b, b, coin)) return false;
  return exp_of_part(entropy, a, b, coin);
}

/// exp(-(a/b) p), b < 2^110.
template <class Coin>
bool exp_of(Entropy& entropy, Uint128 a, Uint128 b, Coin coin) {
  if (high_word(a) == 0 && b < (Uint128{1} << 50))
    return exp_of_ratio(entropy, low_word(a), low_word(b), coin);
  return exp_of_ratio(entropy, a, b, coin);
}

/// 1 .. n in proportion to itself.
uint64_t in_proportion(Entropy& entropy, uint64_t n) {
  for (;;)
    if (const uint64_t i = below_word(entropy, n) + 1; below_word(entropy, n) < i) return i;
}

/// prod_{i<=n} m/(m+i)
bool falls_above(Entropy& entropy, uint64_t n, uint64_t m) {
  if (n == 0) return true;
  return exp_of(entropy, Uint128{n} * (n + 1), Uint128{m} * 2, [&] {
    const uint64_t i = in_proportion(entropy, n);
    Uniform t(entropy);
    return ratio_coin(entropy, m, i, [&] { return t.is_above_another(); });
  });
}

/// prod_{i<=n} (m-i)/m
bool falls_below(Entropy& entropy, uint64_t n, uint64_t m) {
  if (n == 0) return true;
  if (n >= m) return false;
  return exp_of(entropy, Uint128{n} * (n + 1), Uint128{m - n} * 2, [&] {
    const uint64_t i = in_proportion(entropy, n);
    Uniform t(entropy);  // m - i T = (m - n) + n (1 - (i/n) T)
    return ratio_coin(entropy, m - n, n,
                      [&] { return below_word(entropy, n) >= i || !t.is_above_another(); });
  });
}

/// (m/(m+h))^n
bool power(Entropy& entropy, uint64_t n, uint64_t h, uint64_t m) {
  if (n == 0) return true;
  return exp_of(entropy, Uint128{n} * h, m, [&] {
    Uniform t(entropy);
    return ratio_coin(entropy, m, h, [&] { return t.is_above_another(); });
  });
}

}  // namespace

Poisson::Poisson(uint64_t mean)
    : mean_(mean), flat_(static_cast<uint64_t>(std::sqrt(static_cast<double>(mean)))) {
  check(mean >= kMeanMin && mean <= kMeanMax);
}

/// k with probability proportional to (m/(m+h))^k: whole blocks, and the rest within a block.
uint64_t Poisson::geometric(Entropy& entropy, uint64_t m) const {
  const uint64_t block = m / flat_ + 1;
  uint64_t low = below_word(entropy, block);
  while (!power(entropy, low, flat_, m)) low = below_word(entropy, block);
  uint64_t high = 0;
  while (power(entropy, block, flat_, m)) ++high;
  const Uint128 value = low + Uint128{block} * high;
  check(value >> 62 == 0);
  return low_word(value);
}

bool Poisson::accepts(Entropy& entropy, uint64_t distance, bool above) const {
  const uint64_t near = distance < flat_ ? distance : flat_, far = distance - near;
  return above ? falls_above(entropy, near, mean_) && falls_above(entropy, far, mean_ + flat_)
               : falls_below(entropy, near, mean_) && falls_below(entropy, far, mean_ - flat_);
}

int64_t Poisson::sample(Entropy& entropy) const {
  // In units of 1/h: h values on either side, and the geometric sums (m+h)/h and m/h.
  const uint64_t flat = flat_ * flat_, above_flat = mean_ + flat_;
  for (;;) {
    const uint64_t part = below_word(entropy, 2 * flat + above_flat + mean_);
    const bool near = part < 2 * flat;
    const bool above = near ? part < flat : part < 2 * flat + above_flat;
    const uint64_t distance = near ? below_word(entropy, flat_)
                                   : flat_ + geometric(entropy, above ? mean_ : mean_ - flat_);
    if (!accepts(entropy, distance, above)) continue;
    const int64_t mode = static_cast<int64_t>(mean_), moved = static_cast<int64_t>(distance);
    return above ? mode + moved : mode - 1 - moved;
  }
}

SkellamNoise::SkellamNoise(uint64_t variance) : half_(variance / 2) { check(variance % 2 == 0); }

}  // namespace parley::privacy
