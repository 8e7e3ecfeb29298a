#include "parley/base/math/number.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

namespace parley {
namespace number_test {

// 113 bits of mantissa and a wider exponent hold the product of any two doubles exactly.
__extension__ typedef __float128 Exact;

/// Non-negative finite numbers: awkward ones, and a fixed sequence over all exponents.
std::vector<double> numbers() {
  std::vector<double> list{0.0,    5e-324,      1e-320, 0x1p-1022,
                           1e-300, 1e-200,      0.1,    0.3,
                           1.0,    1 + 0x1p-52, 7.3,    1 - 0x1p-53,
                           1e17,   1e150,       1e300,  std::numeric_limits<double>::max()};
  uint64_t bits = 1;
  for (int i = 0; i < 600; ++i) {
    bits = bits * 6364136223846793005 + 1442695040888963407;
    const double wide = std::bit_cast<double>(bits >> 1);
    if (std::isfinite(wide)) list.push_back(wide);
    list.push_back(std::ldexp(1 + (bits >> 12) * 0x1p-52, int(bits % 9)));  // where budgets live
  }
  return list;
}

/// Visits all pairs. `exact_is_above(x, a, b)` says whether the exact result exceeds x.
void never_below_and_at_most_one_step_above(auto operation, auto exact_is_above) {
  for (const double a : numbers()) {
    for (const double b : numbers()) {
      const double up = operation(a, b);
      if (!std::isfinite(up)) continue;  // infinity is never below
      ASSERT_FALSE(exact_is_above(up, a, b)) << a << " " << b;
      const bool tight = up <= 0x1p-900 || a <= 0x1p-900 || exact_is_above(next_down(up), a, b);
      ASSERT_TRUE(tight) << a << " " << b << ": two steps up";
    }
  }
}

TEST(RoundingUp, SumsAreNeverBelowTheExactValue) {
  never_below_and_at_most_one_step_above(add_up, [](double x, double a, double b) {
    const Exact rest = Exact{x} - std::fmax(a, b);  // Neighbours: this difference is exact.
    return rest < std::fmin(a, b);
  });
}

TEST(RoundingUp, ProductsAreNeverBelowTheExactValue) {
  never_below_and_at_most_one_step_above(
      mul_up, [](double x, double a, double b) { return Exact{a} * b > x; });
}

TEST(RoundingUp, QuotientsAreNeverBelowTheExactValue) {
  never_below_and_at_most_one_step_above(
      [](double a, double b) { return b > 0 ? div_up(a, b) : HUGE_VAL; },
      [](double x, double a, double b) { return Exact{x} * b < a; });
}

TEST(RoundingUp, ThePlainOperationsWouldFailTheseTests) {
  int below = 0;
  for (const double a : numbers())
    for (const double b : numbers()) below += Exact{a} * b > a * b;
  EXPECT_GT(below, 10'000) << "the tests above have lost their power";
}

TEST(RoundingUp, WhatIsExactStaysAsItIs) {
  EXPECT_EQ(add_up(0.5, 0.25), 0.75);
  EXPECT_EQ(mul_up(3, 0.5), 1.5);
  EXPECT_EQ(div_up(1, 8), 0.125);
  EXPECT_EQ(add_up(0, 0), 0);
  EXPECT_EQ(mul_up(0, 5), 0);
  EXPECT_EQ(div_up(0, 5), 0);
}

TEST(Shortest, ReadsBackAsTheSameNumber) {
  for (const double value : numbers()) {
    EXPECT_EQ(parse_number(shortest(value)), value);
    EXPECT_EQ(parse_number(shortest(-value)), -value);
  }
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(1), "1");
  EXPECT_EQ(shortest(1e-5), "1e-05");
}

TEST(ParseNumber, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_number("+1.5"), 1.5);
  EXPECT_EQ(parse_number("-1e3"), -1000);
  for (const char* wrong : {"", "+", "-", "1 ", " 1", "1,5", "1.5x", "++1", "+-1", "0x10", "1e999"})
    EXPECT_EQ(parse_number(wrong), std::nullopt) << wrong;
}

TEST(Grouped, SetsACommaBeforeEveryThreeDigits) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(18446744073709551615u), "18,446,744,073,709,551,615");
}

}  // namespace number_test
}  // namespace parley
