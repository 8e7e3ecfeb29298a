#include "parley/learn/loss/exp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/entropy.h"

namespace parley::learn {
namespace exp_test {

using test::SeededEntropy, test::uniform;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The distance in units of the last place of a double near the truth.
double ulps(double found, long double truth) {
  const auto nearest = static_cast<double>(truth);
  const double unit = std::fmax(std::nextafter(nearest, kInfinity) - nearest, 0x1p-1074);
  return static_cast<double>(fabsl(found - truth) / unit);
}

// x87's expl has 64 bits of mantissa, eleven more than the result.
TEST(PureExp, IsWithinOneUnitInTheLastPlaceOverTheWholeRange) {
  SeededEntropy entropy(1, "exp");
  double worst = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const double x = i % 2 == 0 ? 1455 * uniform(entropy) - 745.2  // denormals to overflow
                                : std::ldexp(2 * uniform(entropy) - 1, -int(entropy.word() % 40));
    if (x < 709.78) worst = std::fmax(worst, ulps(pure_exp(x), expl(x)));
  }
  EXPECT_LT(worst, 1);
  EXPECT_GT(worst, 0.5) << "no function of doubles is that good: the test has lost its power";
}

TEST(PureExp, IsExactAtZeroAndGoesToItsLimits) {
  EXPECT_EQ(pure_exp(0.0), 1);
  EXPECT_EQ(pure_exp(-0.0), 1);
  EXPECT_EQ(pure_exp(5e-324), 1);
  for (double x : {709.79, 710.0, 1e5, 1e300, kInfinity}) EXPECT_EQ(pure_exp(x), kInfinity) << x;
  for (double x : {-745.2, -746.0, -1e5, -1e300, -kInfinity}) EXPECT_EQ(pure_exp(x), 0) << x;
  EXPECT_EQ(pure_exp(-745.1), 0x1p-1074);
  EXPECT_TRUE(std::isnan(pure_exp(std::nan(""))));
  EXPECT_TRUE(std::isnan(pure_exp(-std::nan(""))));
  const double denormal = pure_exp(-720);
  EXPECT_LT(denormal, std::numeric_limits<double>::min());
  EXPECT_LE(ulps(denormal, expl(-720)), 1);
}

TEST(PureExp, NeverDecreases) {
  double before = 0;
  for (double x = -746; x < 711; x += 1 / 512.0) {
    const double value = pure_exp(x);
    EXPECT_GE(value, before) << x;
    before = value;
  }
}

TEST(PureSigmoid, IsAccurateOnBothSidesAndAddsUpToOne) {
  SeededEntropy entropy(2, "sigmoid");
  double worst = 0;
  for (int i = 0; i < 200'000; ++i) {
    const double x = 1400 * uniform(entropy) - 700;
    const long double truth = x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x));
    worst = std::fmax(worst, ulps(pure_sigmoid(x), truth));
    EXPECT_NEAR(pure_sigmoid(x) + pure_sigmoid(-x), 1, 0x1p-52) << x;
  }
  EXPECT_LT(worst, 2.5);
  EXPECT_EQ(pure_sigmoid(0), 0.5);
  EXPECT_EQ(pure_sigmoid(1e300), 1);
  EXPECT_LT(pure_sigmoid(-1e300), 1e-300);
  EXPECT_TRUE(std::isnan(pure_sigmoid(std::nan(""))));
}

// Denormal numbers take longer, so an answer's time would tell of a record far out.
TEST(PureSigmoid, IsNeverDenormal) {
  for (const double x : {-699.0, -701.0, -708.5, -720.0, -745.0, -746.0, -1e10, -1e300, -HUGE_VAL})
    EXPECT_TRUE(std::isnormal(pure_sigmoid(x))) << x;
}

}  // namespace exp_test
}  // namespace parley::learn
