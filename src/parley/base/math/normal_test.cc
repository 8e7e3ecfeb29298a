#include "parley/base/math/normal.h"

#include <gtest/gtest.h>

#include <cmath>

#include "parley/base/bytes.h"

namespace parley {
namespace normal_test {

TEST(NormalAbove, AgreesWithTheMathematics) {
  for (double x = -37; x < 37; x += .00731) {
    const long double truth = erfcl(x / std::sqrt(2.0L)) / 2;
    EXPECT_LE(std::fabs(normal_above(x) - truth), 0x1p-50L * truth) << x;
  }
  EXPECT_EQ(normal_above(0), .5);
  // Abramowitz, Stegun 1964, Table 26.2, and Wolfram's tables of erfc.
  EXPECT_NEAR(normal_above(1) / .15865525393145705, 1, 1e-15);
  EXPECT_NEAR(normal_above(6) / 9.8658764503769814e-10, 1, 1e-15);
  EXPECT_NEAR(normal_above(37) / 5.7255712225245769e-300, 1, 1e-15);
}

TEST(NormalAbove, NeverVanishes) {
  EXPECT_EQ(normal_above(40), normal_above(37));
  EXPECT_EQ(normal_above(HUGE_VAL), normal_above(37));
  EXPECT_EQ(normal_above(-HUGE_VAL), 1);
}

/// So that a change of one bit anywhere is noticed, and another bit on another processor.
TEST(NormalAbove, HasTheSameBitsOnEveryMachine) {
  TupleBytes bits;
  for (double x = -40; x < 40; x += .0123) bits.add(normal_above(x));
  EXPECT_EQ(to_hex(bits.sha256()),
            "0b16a37165275766defab7cbfc1c33ff9920cfbafaa864e183809cec601cc0e1");
}

}  // namespace normal_test
}  // namespace parley
