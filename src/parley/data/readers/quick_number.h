// Plain decimal numbers as data files write them, read several times faster than by from_chars and
// to the same bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

#include "parley/base/math/number.h"

namespace parley::data {

/// Stands for a text that is no finite number. (An std::optional goes through memory in pieces that
/// are read back as one, for which the processor waits longer than all else here takes.)
inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
inline bool is_number(double value) { return value == value; }

/// Digits of a text are looked at all at once, as bytes of one integer: going through them one by
/// one costs a wrong guess of the processor wherever lengths differ from number to number.
namespace word {

__extension__ using Uint128 = unsigned __int128;

template <class Word>
inline constexpr Word kOnes = static_cast<Word>(~Word{0}) / 255;  // 1 in every byte
template <class Word>
inline constexpr Word kHighs = 0x80 * kOnes<Word>;

/// The characters of a text of 1 to 8 or of 8 to 16, the first lowest, then zeros. Two reads that
/// overlap agree on what they share, and nothing outside of the text is touched.
inline uint64_t of_short(const char* text, size_t size) {
  const auto at = [&](size_t i) { return uint64_t{static_cast<uint8_t>(text[i])} << 8 * i; };
  if (size < 4) return at(0) | at(size / 2) | at(size - 1);
  uint32_t first, last;
  std::memcpy(&first, text, 4);
  std::memcpy(&last, text + size - 4, 4);
  return first | uint64_t{last} << 8 * (size - 4);
}
inline Uint128 of_long(const char* text, size_t size) {
  uint64_t first, last;
  std::memcpy(&first, text, 8);
  std::memcpy(&last, text + size - 8, 8);
  return first | Uint128{last} << 8 * (size - 8);
}

inline bool all_digits(uint64_t text) {
  constexpr uint64_t kUpper = 0xF0F0F0F0F0F0F0F0, kSix = 0x0606060606060606;
  return ((text & kUpper) | (((text + kSix) & kUpper) >> 4)) == 0x3333333333333333;
}
/// Neighbours are joined: eight digits, four pairs, two fours.
inline uint64_t eight_digits(uint64_t text) {
  text = ((text & 0x0F0F0F0F0F0F0F0F) * (10 * 0x100 + 1)) >> 8;
  text = ((text & 0x00FF00FF00FF00FF) * (100 * 0x10000 + 1)) >> 16;
  return ((text & 0x0000FFFF0000FFFF) * (10000 * 0x100000000 + 1)) >> 32;
}

inline bool all_digits(Uint128 text) {
  return all_digits(static_cast<uint64_t>(text)) && all_digits(static_cast<uint64_t>(text >> 64));
}
inline uint64_t digits_of(uint64_t text) { return eight_digits(text); }
inline uint64_t digits_of(Uint128 text) {
  return eight_digits(static_cast<uint64_t>(text)) * 100'000'000 +
         eight_digits(static_cast<uint64_t>(text >> 64));
}

inline size_t first_byte(uint64_t flags) { return std::countr_zero(flags) / 8; }
inline size_t first_byte(Uint128 flags) {
  const auto low = static_cast<uint64_t>(flags);
  return low != 0 ? first_byte(low) : 8 + first_byte(static_cast<uint64_t>(flags >> 64));
}

/// `size` characters at the end of the word instead of the start, behind zeros.
template <class Word>
inline Word behind_zeros(Word text, size_t size) {
  const size_t empty = 8 * (sizeof(Word) - size);
  return text << empty | ('0' * kOnes<Word> & ~(static_cast<Word>(~Word{0}) << empty));
}

/// The number that `size` digits are, or 0.
inline uint64_t whole(uint64_t text, size_t size) {
  text = behind_zeros(text, size);
  return all_digits(text) ? eight_digits(text) : 0;
}

inline constexpr double kTens[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

/// `size` characters that are digits with perhaps one point among them, or kNoNumber.
///
/// Up to 15 digits are an integer below 2^53, over a power of ten below 10^23: both are doubles,
/// and one division rounds correctly (Clinger 1990).
template <class Word>
inline double decimal(Word text, size_t size) {
  const Word other = text ^ '.' * kOnes<Word>;
  const Word points = ~other & (other - kOnes<Word>)&kHighs<Word>;  // The lowest is right.
  const bool has_point = points != 0;
  const size_t digits = size - has_point;
  if (digits == 0 || digits > 15) return kNoNumber;
  const size_t after_point = has_point ? digits - first_byte(points) : 0;
  const Word before = ((points & (0 - points)) >> 7) - 1;  // all, if there is no point
  text = behind_zeros<Word>((text & before) | ((text >> 8) & ~before), digits);
  if (!all_digits(text)) return kNoNumber;
  return static_cast<double>(static_cast<int64_t>(digits_of(text))) / kTens[after_point];
}

}  // namespace word

/// The number of a text that is plain: a sign perhaps, up to 15 digits, and perhaps a point among
/// them. kNoNumber for any other.
inline double plain_number(std::string_view text) {
  if (text.size() == 1 && text[0] >= '0' && text[0] <= '9') return text[0] - '0';
  const bool negative = !text.empty() && text[0] == '-';
  const char* const first = text.data() + negative;
  const size_t size = text.size() - negative;
  double value = kNoNumber;
  if (size >= 1 && size <= 8)
    value = word::decimal(word::of_short(first, size), size);
  else if (size > 8 && size <= 16)
    value = word::decimal(word::of_long(first, size), size);
  // Signs are hard to guess, so nothing branches on them.
  return std::bit_cast<double>(std::bit_cast<uint64_t>(value) ^ uint64_t{negative} << 63);
}

/// The finite number that all of `text` is, or kNoNumber; as parse_number.
inline double quick_number(std::string_view text) {
  double value = plain_number(text);
  if (is_number(value)) [[likely]]
    return value;
  value = parse_number(text).value_or(kNoNumber);
  return std::isfinite(value) ? value : kNoNumber;
}

}  // namespace parley::data
