// Numbers as people and proofs need them: shortest text, and arithmetic rounded against ourselves.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace parley {

/// The shortest decimal text that reads back as the same number.
std::string shortest(double value);

/// 250000 as 250,000, for people.
std::string grouped(uint64_t number);

/// `digits` significant digits, for people: 0.0117, 1.7e-05.
std::string significant(double value, int digits = 3);

/// The whole of `text` as a number, or nothing. Accepts what std::from_chars accepts, and a '+'.
std::optional<double> parse_number(std::string_view text);

inline double next_up(double x) {
  return std::nextafter(x, std::numeric_limits<double>::infinity());
}
inline double next_down(double x) {
  return std::nextafter(x, -std::numeric_limits<double>::infinity());
}

// Sums, products and quotients of non-negative numbers, never below the exact value. An accountant
// may say 2.01 for 2.00, never 1.99.
inline double add_up(double a, double b) {
  const double sum = a + b;
  const double large = std::fmax(a, b), small = std::fmin(a, b);
  return small - (sum - large) > 0 ? next_up(sum) : sum;  // Fast2Sum: the rest is exact.
}
inline double mul_up(double a, double b) {
  const double product = a * b;
  const bool tiny = product < 0x1p-900;  // Its rest may underflow to zero: always go up.
  return (tiny ? a > 0 && b > 0 : std::fma(a, b, -product) > 0) ? next_up(product) : product;
}
inline double div_up(double a, double b) {
  const double quotient = a / b;
  const bool tiny = a < 0x1p-900;
  return (tiny ? a > 0 : std::fma(-quotient, b, a) > 0) ? next_up(quotient) : quotient;
}

}  // namespace parley
