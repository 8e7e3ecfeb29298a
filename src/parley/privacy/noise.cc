#include "parley/privacy/noise.h"

namespace parley::privacy {
namespace {

// Three widths, each as fast as it can be: a machine word, the compiler's 128 bits, and 256. All
// take the words, and give the values, of the definition of below(). None is a power of 2^64: that
// one word less suffices for these is seen to by below().

inline uint64_t below_of(Entropy& entropy, uint64_t n) {
  for (;;) {
    const uint64_t draw = entropy.word(), value = draw % n;
    if (draw - value <= -n) return value;  // The block of n values around the draw is complete.
  }
}

inline Uint128 below_of(Entropy& entropy, Uint128 n) {
  for (;;) {
    const uint64_t low = entropy.word();
    const Uint128 draw = Uint128{entropy.word()} << 64 | low, value = remainder(draw, n);
    if (draw - value <= -n) return value;
  }
}

template <size_t M>
Uint256 words(Entropy& entropy) {
  Uint256 draw;
  for (size_t i = 0; i < M; ++i) draw.word[i] = entropy.word();
  return draw;
}

/// Is the block of n values around the draw complete? As good as always the leading words show it.
template <size_t M>
bool is_surely_complete(const Uint256& draw, const Uint256& n) {
  uint64_t top;
  return !__builtin_add_overflow(draw.word[M - 1], n.word[M - 1], &top) && ~top != 0;
}
template <size_t M>
bool is_complete(const Uint256& draw, const Uint256& value, const Uint256& n) {
  if (is_surely_complete<M>(draw, n)) return true;
  Uint256 end = draw - value;
  return !add_carries<M>(end, n) || end == Uint256{};
}

template <size_t M>
Uint256 below_words(Entropy& entropy, const Uint256& n) {
  for (;;) {
    const Uint256 draw = words<M>(entropy), value = remainder<M>(draw, n);
    if (is_complete<M>(draw, value, n)) return value;
  }
}

Uint256 below_of(Entropy& entropy, const Uint256& n) {
  if (n.word[3] != 0) return below_words<4>(entropy, n);
  if (n.word[2] != 0) return below_words<3>(entropy, n);
  if (n.word[1] != 0) return below_of(entropy, n.low());
  return Uint128{below_of(entropy, n.word[0])};
}

bool is_power_of_2_to_64(const Uint256& n) {
  for (size_t i = 1; i < 4; ++i)
    if (Uint256 power; power.word[i] = 1, n == power) return true;
  return false;
}

inline bool is_less(uint64_t a, uint64_t b) { return a < b; }
inline bool is_less(Uint128 a, Uint128 b) { return a < b; }
inline bool add_carries(uint64_t& a, uint64_t b) { return __builtin_add_overflow(a, b, &a); }
inline bool add_carries(Uint128& a, Uint128 b) { return __builtin_add_overflow(a, b, &a); }
using privacy::add_carries, privacy::is_less;

template <class T>
inline bool is_below_less(Entropy& entropy, const T& n, const T& a) {
  return below_of(entropy, n) < a;
}

/// below(n) < a, for most draws from the leading two words alone.
template <size_t M>
bool is_below_less_of(Entropy& entropy, const Uint256& n, const Uint256& a) {
  for (;;) {
    const Uint256 draw = words<M>(entropy);
    if (is_surely_complete<M>(draw, n))
      if (const auto less = is_remainder_less<M>(draw, n, a)) return *less;
    const Uint256 value = remainder<M>(draw, n);
    if (is_complete<M>(draw, value, n)) return is_less<M>(value, a);
  }
}
inline bool is_below_less(Entropy& entropy, const Uint256& n, const Uint256& a) {
  if (n.word[3] != 0) return is_below_less_of<4>(entropy, n, a);
  if (n.word[2] != 0) return is_below_less_of<3>(entropy, n, a);
  return is_less(below_of(entropy, n), a);
}

/// True with probability exp(-1). The words for below(1) and below(2) are taken as for any other.
inline bool bernoulli_exp_one(Entropy& entropy) {
  entropy.word();
  if ((entropy.word() & 1) != 0) return false;
  uint64_t k = 3;
  while (below_of(entropy, k) == 0) ++k;
  return k % 2 == 1;
}

/// exp(-a/b) is the sum of (-a/b)^k / k!: the first k with below(b k) >= a is odd that often. For
/// a <= b.
template <class T>
inline bool bernoulli_exp_series(Entropy& entropy, const T& a, const T& b) {
  uint64_t k = 1;
  for (T n = b; is_below_less(entropy, n, a);) {
    ++k;
    if (!add_carries(n, b)) continue;
    while (is_less(below(entropy, Uint256(b) * k), Uint256(a))) ++k;  // It has become wider.
    break;
  }
  return k % 2 == 1;
}

template <class T>
inline bool bernoulli_exp_of(Entropy& entropy, T a, const T& b) {
  for (; is_less(b, a); a = a - b)
    if (!bernoulli_exp_one(entropy)) return false;
  return bernoulli_exp_series(entropy, a, b);
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
  if (!is_power_of_2_to_64(n)) return below_of(entropy, n);
  Uint256 draw;
  for (size_t i = 0; n.word[i] == 0; ++i) draw.word[i] = entropy.word();
  return draw;
}

bool bernoulli_exp(Entropy& entropy, const Uint256& a, const Uint256& b) {
  check(b != Uint256{} && !is_power_of_2_to_64(b));
  return bernoulli_exp_of(entropy, a, b);
}

int64_t discrete_laplace(Entropy& entropy, uint64_t scale) {
  check(scale > 0 && scale <= kScaleMax);
  for (;;) {
    const uint64_t low = below_of(entropy, scale);
    if (!bernoulli_exp_series(entropy, low, scale)) continue;
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
  check(!is_power_of_2_to_64(divisor_));
}

/// With probability exp(-(size - variance/scale)^2 / (2 variance)), in whole numbers.
bool DiscreteGaussian::keeps(Entropy& entropy, uint64_t size) const {
  const Uint128 at = product(Uint128{size} * scale_, denominator_);
  const Uint128 distance = at > numerator_ ? at - numerator_ : numerator_ - at;
  if (high_word(distance) != 0 || divisor_.words() > 2)
    return bernoulli_exp_of(entropy, full_product(distance, distance), divisor_);
  Uint128 square = distance * distance;
  const Uint128 divisor = divisor_.low();
  if (high_word(divisor) != 0) return bernoulli_exp_of(entropy, square, divisor);
  for (; high_word(square) != 0; square -= divisor)  // It is the larger one: as bernoulli_exp_of.
    if (!bernoulli_exp_one(entropy)) return false;
  return bernoulli_exp_of(entropy, low_word(square), low_word(divisor));
}

int64_t DiscreteGaussian::sample(Entropy& entropy) const {
  for (;;) {
    const int64_t draw = discrete_laplace(entropy, scale_);
    if (keeps(entropy, static_cast<uint64_t>(draw < 0 ? -draw : draw))) return draw;
  }
}

}  // namespace parley::privacy
