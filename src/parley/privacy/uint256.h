// Unsigned 256-bit integers, as much of them as exact noise needs. A product or a sum that does not
// fit ends the process: noise from a number that wrapped would look like noise and protect no one.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <utility>

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

  /// 64-bit words up to the highest that is not zero; at least 1.
  int words() const {
    int count = 4;
    while (count > 1 && word[size_t(count) - 1] == 0) --count;
    return count;
  }
  bool operator==(const Uint256&) const = default;
  std::strong_ordering operator<=>(const Uint256& other) const {
    for (size_t i = 3; i > 0; --i)
      if (word[i] != other.word[i]) return word[i] <=> other.word[i];
    return word[0] <=> other.word[0];
  }
};

/// a + b, and whether it left 256 bits.
inline bool add_carries(Uint256& a, const Uint256& b) {
  unsigned char carry = 0;
  for (size_t i = 0; i < 4; ++i) {
    const Uint128 sum = Uint128{a.word[i]} + b.word[i] + carry;
    a.word[i] = low_word(sum);
    carry = static_cast<unsigned char>(high_word(sum));
  }
  return carry != 0;
}

/// a - b, and whether that is below zero (then a is it plus 2^256).
inline bool subtract_borrows(Uint256& a, const Uint256& b) {
  unsigned char borrow = 0;
  for (size_t i = 0; i < 4; ++i) {
    const Uint128 difference = Uint128{a.word[i]} - b.word[i] - borrow;
    a.word[i] = low_word(difference);
    borrow = high_word(difference) != 0;
  }
  return borrow != 0;
}

inline Uint256 operator+(Uint256 a, const Uint256& b) {
  check(!add_carries(a, b));
  return a;
}

inline Uint256 operator-(Uint256 a, const Uint256& b) {
  check(!subtract_borrows(a, b));
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
  Uint256 high = Uint256(a) * high_word(b);  // At most three words: room to shift by one.
  high.word = {0, high.word[0], high.word[1], high.word[2]};
  return high + Uint256(a) * low_word(b);
}

/// v mod n, where v has at most as many words as n: the quotient is one word, guessed from the
/// leading words (Knuth, volume 2, 4.3.1, theorem B: never too small, at most 2 too large).
inline Uint256 remainder_by_same_size(Uint256 v, const Uint256& n) {
  const auto m = static_cast<size_t>(n.words());
  check(v.words() <= n.words() && n != Uint256{});
  if (m == 1) return Uint128{v.word[0] % n.word[0]};
  const int shift = std::countl_zero(n.word[m - 1]);  // Makes the leading bit of n a one.
  const auto top = [m](const Uint256& x) { return Uint128{x.word[m - 1]} << 64 | x.word[m - 2]; };
  const uint64_t guess = low_word((top(v) >> (64 - shift)) / high_word(top(n) << shift));
  Uint256 taken;
  uint64_t over = 0;  // the fifth word of n * guess
  for (size_t i = 0; i < m; ++i) {
    const Uint128 part = Uint128{n.word[i]} * guess + over;
    taken.word[i] = low_word(part);
    over = high_word(part);
  }
  if (m < 4) taken.word[m] = std::exchange(over, 0);
  // How often 2^256 must be added to v for the true, negative difference to be zero or more.
  uint64_t below_zero = over + subtract_borrows(v, taken);
  while (below_zero > 0) below_zero -= add_carries(v, n);
  return v;
}

}  // namespace parley::privacy
