// Plain decimal numbers as data files write them, read several times faster than by from_chars and
// to the same bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "parley/base/number.h"

namespace parley::learn {

/// The finite number that all of `text` is, or nothing; as parse_number.
///
/// Up to 15 digits, with a point anywhere, are an integer below 2^53 over a power of ten below
/// 10^23: both are doubles, and one division rounds correctly (Clinger 1990). The rest is left to
/// from_chars.
inline std::optional<double> quick_number(std::string_view text) {
  constexpr double kTens[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                              1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  if (text.size() == 1 && text[0] >= '0' && text[0] <= '9') return text[0] - '0';
  const bool negative = !text.empty() && text[0] == '-';
  const size_t first = negative;
  uint64_t digits = 0;
  size_t point = text.size();
  bool plain = text.size() > first && text.size() <= first + 16;
  for (size_t i = first; plain && i < text.size(); ++i) {
    const auto digit = static_cast<unsigned char>(text[i] - '0');
    if (digit < 10)
      digits = 10 * digits + digit;
    else if (text[i] == '.' && point == text.size())
      point = i;
    else
      plain = false;
  }
  const bool has_point = point < text.size();
  const size_t count = text.size() - first - has_point;
  if (!plain || count == 0 || count > 15) {
    const auto value = parse_number(text);
    return value && std::isfinite(*value) ? value : std::nullopt;
  }
  const double value = static_cast<double>(digits) / kTens[has_point ? text.size() - point - 1 : 0];
  return negative ? -value : value;
}

}  // namespace parley::learn
