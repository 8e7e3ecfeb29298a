#include "parley/base/math/portable.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "parley/base/bytes.h"

namespace parley {
namespace portable_test {

int64_t ulps_between(double a, double b) {
  return std::abs(std::bit_cast<int64_t>(a) - std::bit_cast<int64_t>(b));
}

TEST(PortableMath, AgreesWithTheMathematics) {
  for (double x = -40; x < 40; x += .00137) {
    EXPECT_LE(ulps_between(portable_exp(x), std::exp(x)), 2) << x;
    const double y = std::exp(x);
    EXPECT_LE(ulps_between(portable_log(y), std::log(y)), 2) << y;
  }
  for (double x = .5; x < 2; x += .00037)  // Where log is near zero, it must stay accurate.
    EXPECT_LE(ulps_between(portable_log(x), std::log(x)), 2) << x;
  EXPECT_EQ(portable_exp(0), 1);
  EXPECT_EQ(portable_log(1), 0);
  EXPECT_NEAR(portable_exp(-690) / std::exp(-690.), 1, 1e-14);
}

TEST(PortableMath, NormalQuantileInvertsTheDistribution) {
  for (double x = -8.1; x < 8.1; x += .0173) {
    const double p = std::erfc(-x / std::sqrt(2.)) / 2;
    const double slope = std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
    // p itself is known to 2^-53 only, which matters in the upper tail.
    if (p < 1) {
      EXPECT_NEAR(normal_quantile(p), x, 1e-14 * (1 + std::fabs(x)) + 2e-16 * p / slope) << x;
    }
  }
  EXPECT_EQ(normal_quantile(.5), 0);
  EXPECT_NEAR(normal_quantile(.975), 1.959963984540054, 4e-16 * 2);
  EXPECT_NEAR(normal_quantile(1e-20), -9.262340089798408, 4e-15);  // Wichura's own check.
}

TEST(PortableMath, Log1pStaysAccurateNearZeroAndFarAway) {
  for (double x = 1e-18; x < 1e140; x *= 1.37)
    EXPECT_LE(ulps_between(portable_log1p(x), std::log1p(x)), 4) << x;
  for (double x = 1e-18; x < 1; x *= 1.01)
    EXPECT_LE(ulps_between(portable_log1p(-x), std::log1p(-x)), 4) << x;
  EXPECT_EQ(portable_log1p(0), 0);
}

TEST(PortableMath, CosineOfTurnsIsPeriodicExactAtQuartersAndAccurate) {
  for (double x = -3; x < 3; x += .000173)
    EXPECT_NEAR(cos_of_turns(x), std::cos(2 * M_PIl * static_cast<long double>(x)), 0x1p-51) << x;
  for (double turn : {0., 1., -7., 0x1p40, 1e300}) EXPECT_EQ(cos_of_turns(turn), 1) << turn;
  for (double quarter : {.25, .75, -.25, 1000.25}) EXPECT_EQ(cos_of_turns(quarter), 0) << quarter;
  EXPECT_EQ(cos_of_turns(.5), -1);
  EXPECT_EQ(cos_of_turns(.3125), cos_of_turns(-4096.3125));
  EXPECT_TRUE(std::isnan(cos_of_turns(HUGE_VAL)));
}

/// So that a change of one bit anywhere is noticed: hashes of files rest on these.
TEST(PortableMath, HasTheBitsThatPublishedFilesRestOn) {
  TupleBytes bits;
  for (double x = -30; x < 30; x += .0123)
    bits.add(portable_exp(x)).add(portable_log(std::fabs(x) + .001)).add(cos_of_turns(x));
  for (double x = .0001; x < 1; x += .0007) bits.add(normal_quantile(x)).add(portable_log1p(x));
  EXPECT_EQ(to_hex(bits.sha256()),
            "5ec40aa33c885c1a07bd12070767242aff243646318c080eb0e5ecdbf9a4ac9f");
}

}  // namespace portable_test
}  // namespace parley
