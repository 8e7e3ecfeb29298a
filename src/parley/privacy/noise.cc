#include "parley/privacy/noise.h"

#include <bit>

namespace parley::privacy {
namespace {

/// below(n) of one word.
inline uint64_t below_word(Entropy& entropy, uint64_t n) {
  for (;;) {
    const uint64_t draw = entropy.word(), value = draw % n;
    if (draw - value <= -n) return value;  // The block of n values around draw ends by 2^64.
  }
}

Uint256 below_words(Entropy& entropy, const Uint256& n) {
  const Uint256 last = n - Uint256(1);
  const auto words = static_cast<size_t>(last.words());
  for (;;) {
    Uint256 draw;
    for (size_t i = 0; i < words; ++i) draw.word[i] = entropy.word();
    if (last.words() < n.words()) return draw;  // n = 2^64, 2^128 or 2^192: every draw is below it.
    const Uint256 value = remainder_by_same_size(draw, n);
    Uint256 end = draw - value;
    const bool leaves = add_carries(end, last);
    if (!leaves && end.words() <= last.words()) return value;
  }
}

/// True with probability exp(-1). The words for below(1) and below(2) are taken as for any other.
bool bernoulli_exp_one(Entropy& entropy) {
  entropy.word();
  if ((entropy.word() & 1) != 0) return false;
  uint64_t k = 3;
  while (below_word(entropy, k) == 0) ++k;
  return k % 2 == 1;
}

/// exp(-a/b) is the sum of (-a/b)^k / k!: the first k with below(b k) >= a is odd that often.
bool bernoulli_exp_wide(Entropy& entropy, const Uint256& a, const Uint256& b, uint64_t k) {
  while (below_words(entropy, b * k) < a) ++k;
  return k % 2 == 1;
}

/// The same for 0 <= a <= b of one word, as long as b k is one.
bool bernoulli_exp_word(Entropy& entropy, uint64_t a, uint64_t b) {
  uint64_t k = 1;
  for (uint64_t n = b; below_word(entropy, n) < a;)
    if (++k; __builtin_add_overflow(n, b, &n))
      return bernoulli_exp_wide(entropy, Uint128{a}, Uint128{b}, k);
  return k % 2 == 1;
}

uint64_t floor_sqrt(Uint128 x) {
  uint64_t root = 0;
  for (uint64_t bit = uint64_t{1} << 63; bit != 0; bit >>= 1)
    if (Uint128{root | bit} * (root | bit) <= x) root |= bit;
  return root;
}

Uint128 product(Uint128 a, Uint128 b) {
  Uint128 result;
  check(!__builtin_mul_overflow(a, b, &result));
  return result;
}

}  // namespace

Uint256 below(Entropy& entropy, const Uint256& n) {
  check(n != Uint256{});
  return n.words() == 1 ? Uint128{below_word(entropy, n.word[0])} : below_words(entropy, n);
}

bool bernoulli_exp(Entropy& entropy, Uint256 a, const Uint256& b) {
  check(b != Uint256{});
  for (; a > b; a = a - b)
    if (!bernoulli_exp_one(entropy)) return false;
  if (b.words() == 1) return bernoulli_exp_word(entropy, a.word[0], b.word[0]);
  return bernoulli_exp_wide(entropy, a, b, 1);
}

int64_t discrete_laplace(Entropy& entropy, uint64_t scale) {
  check(scale > 0 && scale <= kScaleMax);
  for (;;) {
    const uint64_t low = below_word(entropy, scale);
    if (!bernoulli_exp_word(entropy, low, scale)) continue;
    uint64_t high = 0;  // Geometric, in steps of exp(-1).
    while (bernoulli_exp_one(entropy)) ++high;
    const Uint128 size = low + Uint128{scale} * high;
    check(size >> 63 == 0);
    const bool negative = entropy.word() & 1;
    if (negative && size == 0) continue;  // Zero would otherwise be drawn twice as often.
    return negative ? -static_cast<int64_t>(size) : static_cast<int64_t>(size);
  }
}

DiscreteGaussian::DiscreteGaussian(Uint128 numerator, uint64_t denominator)
    : numerator_(numerator), denominator_(denominator) {
  check(numerator > 0 && denominator > 0 && denominator <= 256);
  check(numerator / denominator <= kVarianceMax);
  scale_ = floor_sqrt(numerator / denominator) + 1;
  check(scale_ <= kScaleMax);
  divisor_ = full_product(product(numerator, 2 * denominator), Uint128{scale_} * scale_);
}

/// With probability exp(-(size - variance/scale)^2 / (2 variance)), in whole numbers.
bool DiscreteGaussian::keeps(Entropy& entropy, uint64_t size) const {
  const Uint128 at = product(Uint128{size} * scale_, denominator_);
  const Uint128 distance = at > numerator_ ? at - numerator_ : numerator_ - at;
  return bernoulli_exp(entropy, full_product(distance, distance), divisor_);
}

int64_t DiscreteGaussian::sample(Entropy& entropy) const {
  for (;;) {
    const int64_t draw = discrete_laplace(entropy, scale_);
    if (keeps(entropy, static_cast<uint64_t>(draw < 0 ? -draw : draw))) return draw;
  }
}

}  // namespace parley::privacy
