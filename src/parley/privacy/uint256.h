// Unsigned 256-bit integers, as much of them as exact noise needs. A product or a sum that does not
// fit ends the process: noise from a number that wrapped would look like noise and protect no one.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#include "parley/base/result.h"

namespace parley::privacy {

__extension__ using Uint128 = unsigned __int128;

inline uint64_t low_word(Uint128 x) { return static_cast<uint64_t>(x); }
inline uint64_t high_word(Uint128 x) { return static_cast<uint64_t>(x >> 64); }

struct Uint256 {
  std::array<uint64_t, 4> word{};  // low word first

  constexpr Uint256() = default;
  constexpr Uint256(Uint128 x)  // Widening loses nothing, so it needs no name.
      : word{static_cast<uint64_t>(x), static_cast<uint64_t>(x >> 64), 0, 0} {}

  Uint128 low() const { return Uint128{word[1]} << 64 | word[0]; }

  /// 64-bit words up to the highest that is not zero; at least 1.
  int words() const {
    int count = 4;
    while (count > 1 && word[size_t(count) - 1] == 0) --count;
    return count;
  }
  bool operator==(const Uint256&) const = default;
};

/// a < b, both of at most M words.
template <size_t M = 4>
bool is_less(const Uint256& a, const Uint256& b) {
  bool less = false;
  for (size_t i = 0; i < M; ++i) less = a.word[i] < b.word[i] || (a.word[i] == b.word[i] && less);
  return less;
}

/// a + b in the low M words, and whether it left them.
template <size_t M = 4>
bool add_carries(Uint256& a, const Uint256& b) {
  uint64_t carry = 0;
  for (size_t i = 0; i < M; ++i) {
    const Uint128 sum = Uint128{a.word[i]} + b.word[i] + carry;
    a.word[i] = low_word(sum);
    carry = high_word(sum);
  }
  return carry != 0;
}

inline Uint256 operator+(Uint256 a, const Uint256& b) {
  check(!add_carries(a, b));
  return a;
}

inline Uint256 operator-(Uint256 a, const Uint256& b) {
  uint64_t borrow = 0;
  for (size_t i = 0; i < 4; ++i) {
    const Uint128 difference = Uint128{a.word[i]} - b.word[i] - borrow;
    a.word[i] = low_word(difference);
    borrow = high_word(difference) != 0;
  }
  check(borrow == 0);
  return a;
}

inline Uint256 operator*(const Uint256& a, uint64_t factor) {
  Uint256 product;
  uint64_t carry = 0;
  for (size_t i = 0; i < 4; ++i) {
    const Uint128 part = Uint128{a.word[i]} * factor + carry;
    product.word[i] = low_word(part);
    carry = high_word(part);
  }
  check(carry == 0);
  return product;
}

/// The whole product; it always fits.
inline Uint256 full_product(Uint128 a, Uint128 b) {
  const Uint128 low = Uint128{low_word(a)} * low_word(b);
  const Uint128 cross = Uint128{low_word(a)} * high_word(b);
  const Uint128 other = Uint128{high_word(a)} * low_word(b);
  const Uint128 middle = Uint128{high_word(low)} + low_word(cross) + low_word(other);
  const Uint128 high = Uint128{high_word(a)} * high_word(b) + high_word(cross) + high_word(other) +
                       high_word(middle);
  Uint256 product;
  product.word = {low_word(low), low_word(middle), low_word(high), high_word(high)};
  return product;
}

/// v / n, which must fit one word: high_word(v) < n. The compiler would call a function that
/// divides any v.
inline uint64_t short_quotient(Uint128 v, uint64_t n) {
#if defined(__x86_64__)
  uint64_t quotient, rest;
  asm("divq %[n]"
      : "=a"(quotient), "=d"(rest)
      : "a"(low_word(v)), "d"(high_word(v)), [n] "r"(n)
      : "cc");
  return quotient;
#else
  return static_cast<uint64_t>(v / n);
#endif
}

/// v mod n for n of two words: the quotient is one word, guessed from the leading words (Knuth,
/// volume 2, 4.3.1, theorem B: never too small, at most 2 too large).
inline Uint128 remainder(Uint128 v, Uint128 n) {
  const int shift = std::countl_zero(high_word(n));  // Makes the leading bit of n a one.
  const uint64_t guess = short_quotient(v >> (64 - shift), high_word(n << shift));
  const Uint128 low = Uint128{low_word(n)} * guess;
  const Uint128 high = Uint128{high_word(n)} * guess + high_word(low);
  Uint128 taken = high << 64 | low_word(low);
  for (uint64_t over = high_word(high); over != 0 || taken > v; taken -= n) over -= taken < n;
  return v - taken;
}

/// v mod n for n of exactly M words and v of at most M, in the same way.
template <size_t M>
Uint256 remainder(Uint256 v, const Uint256& n) {
  static_assert(M >= 2);
  const int shift = std::countl_zero(n.word[M - 1]);  // Makes the leading bit of n a one.
  const auto top = [](const Uint256& x) { return Uint128{x.word[M - 1]} << 64 | x.word[M - 2]; };
  const uint64_t guess = short_quotient(top(v) >> (64 - shift), high_word(top(n) << shift));
  uint64_t over = 0, borrow = 0;  // of v - n * guess, word by word
  for (size_t i = 0; i < M; ++i) {
    const Uint128 part = Uint128{n.word[i]} * guess + over;
    over = high_word(part);
    const Uint128 difference = Uint128{v.word[i]} - low_word(part) - borrow;
    v.word[i] = low_word(difference);
    borrow = high_word(difference) != 0;
  }
  // How often 2^(64 M) must be added to v for the true, negative difference not to be.
  for (uint64_t below_zero = over + borrow; below_zero > 0;) below_zero -= add_carries<M>(v, n);
  return v;
}

/// Is v mod n less than a, for a <= n of exactly M words and v of at most M? From the leading two
/// words of each; none if those do not tell.
template <size_t M>
std::optional<bool> is_remainder_less(const Uint256& v, const Uint256& n, const Uint256& a) {
  static_assert(M >= 3);
  const auto top = [](const Uint256& x) { return Uint128{x.word[M - 1]} << 64 | x.word[M - 2]; };
  const int shift = std::countl_zero(n.word[M - 1]);
  const uint64_t guess = short_quotient(top(v) >> (64 - shift), high_word(top(n) << shift));
  const Uint128 low = Uint128{low_word(top(n))} * guess;
  const Uint128 high = Uint128{high_word(top(n))} * guess + high_word(low);
  const Uint128 taken = high << 64 | low_word(low);
  // In units of the words left out, v - n * guess lies in [most - guess, most + 1).
  const Uint128 most = top(v) - taken;
  if (high_word(high) != 0 || taken > top(v) || most < guess || most >= top(n))
    return std::nullopt;  // The quotient may be another.
  if (most < top(a)) return true;
  if (most - guess > top(a)) return false;
  return std::nullopt;
}

}  // namespace parley::privacy
