#include "parley/privacy/mechanism/laplace.h"

#include <gtest/gtest.h>

#include <cmath>

#include "parley/base/math/number.h"

namespace parley::privacy {
namespace laplace_test {

// G6: b = 2 Xi T kappa / (n epsilon).
TEST(LaplaceScale, EqualsTheGoldenValue) {
  EXPECT_NEAR(laplace_scale(3, 100, 30000, Epsilon{1.0}), 0.02, 1e-12);
  EXPECT_NEAR(laplace_scale(3, 100, 30000, Epsilon{1.0}, 2), 0.04, 1e-12);
}

TEST(Laplace, CostsItsSensitivityOverItsScaleRoundedUp) {
  const Laplace laplace = *Laplace::make(3);
  EXPECT_EQ(laplace.cost(1).track, Track::kPure);
  EXPECT_EQ(laplace.cost(1).delta, 0);
  EXPECT_GE(static_cast<long double>(laplace.cost(1).amount) * 3, 1.0L);
  EXPECT_EQ(laplace.cost(6).amount, 2);
}

// What the ledger adds up, rounded up at every step, stays within the decimal that a person wrote,
// and the scale is not wastefully large.
TEST(Laplace, CalibrationIsOnTheSafeSideAndTight) {
  const double sensitivity = 2 * 0x1p24;
  for (double total : {1e-3, 0.1, 0.3, 0.95, 1.0, 3.16, 10.0, 1000.0})
    for (uint32_t answers : {1u, 2u, 3u, 7u, 100u, 1000u}) {
      const auto laplace = Laplace::calibrate(sensitivity, answers, *Epsilon::make(total));
      ASSERT_TRUE(laplace);
      double spent = 0;
      for (uint32_t i = 0; i < answers; ++i)
        spent = add_up(spent, laplace->cost(sensitivity).amount);
      EXPECT_LT(spent, total);
      const double exact = sensitivity * answers / total;
      EXPECT_GE(double(laplace->scale()), exact);
      EXPECT_LE(double(laplace->scale()), exact * (1 + 1e-9) + 2);
    }
}

TEST(Laplace, ScalesThatDoNotFitAreRefused) {
  EXPECT_FALSE(Laplace::make(0));
  EXPECT_FALSE(Laplace::make(kScaleMax + 1));
  EXPECT_FALSE(Laplace::calibrate(0x1p33, 1000000, *Epsilon::make(1e-6)));
}

TEST(Laplace, EventNamesAllThatAnAccountantNeeds) {
  EXPECT_EQ(Laplace::make(8)->event(2),
            "{\"laplace\":{\"noise_multiplier\":" + shortest(next_down(4)) +
                ",\"scale\":8,\"sensitivity\":2}}");
}

}  // namespace laplace_test
}  // namespace parley::privacy
