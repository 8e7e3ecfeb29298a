#include "parley/privacy/mechanism/gaussian.h"

#include <gtest/gtest.h>

#include <cmath>

#include "parley/privacy/accounting/zcdp.h"

namespace parley::privacy {
namespace gaussian_test {

TEST(Gaussian, CostsRhoRoundedUp) {
  const Gaussian gaussian = *Gaussian::make(300);
  EXPECT_EQ(gaussian.cost(10).track, Track::kZcdp);
  EXPECT_EQ(gaussian.cost(10).delta, 0);
  EXPECT_GE(static_cast<long double>(gaussian.cost(10).amount) * 600, 100.0L);
  EXPECT_LE(gaussian.cost(10).amount, 100. / 600 * (1 + 1e-15));
}

TEST(Gaussian, TheEventSaysWhatAnAccountantNeeds) {
  EXPECT_EQ(Gaussian::make(256)->event(8),
            "{\"gaussian\":{\"noise_multiplier\":1.9999999999999996,\"sensitivity\":8,"
            "\"variance\":256}}");
}

// What the ledger adds up, rounded up at every step, stays within rho, and the variance is not
// wastefully large.
TEST(Gaussian, CalibrationIsOnTheSafeSideAndTight) {
  const double sensitivity = 2 * 0x1p24;
  for (double total : {3.2105e-4, 0.024356, 0.13275, 1.0, 100.0})
    for (uint32_t answers : {1u, 2u, 3u, 7u, 100u, 1000u}) {
      const auto gaussian = Gaussian::calibrate(sensitivity, answers, *Rho::make(total));
      ASSERT_TRUE(gaussian);
      double spent = 0;
      for (uint32_t i = 0; i < answers; ++i)
        spent = add_up(spent, gaussian->cost(sensitivity).amount);
      EXPECT_LE(spent, total);
      const double exact = sensitivity * sensitivity * answers / (2 * total);
      EXPECT_GE(gaussian->variance(), exact * (1 - 1e-15));
      EXPECT_LE(gaussian->variance(), exact * (1 + 1e-9) + 2);
    }
}

// The classical sigma = D sqrt(2 ln(1.25/delta)) / epsilon holds for epsilon <= 1 only: at 50 it
// would be 20 times too small a delta for its noise. Ours is converted from rho at every epsilon.
TEST(Gaussian, LargeEpsilonGetsMoreNoiseThanTheClassicalFormula) {
  const double sensitivity = 0x1p25, epsilon = 50, delta = 1e-5;
  const double rho = zcdp_rho(epsilon, *Delta::make(delta));
  const auto ours = Gaussian::calibrate(sensitivity, 1, *Rho::make(rho));
  EXPECT_GT(ours->scale(), sensitivity * std::sqrt(2 * std::log(1.25 / delta)) / epsilon);
}

TEST(Gaussian, RefusesVariancesItCannotDrawOrAccountExactly) {
  for (double bad : {0.0, 15.0, 16.5, 0x1p112, -1.0, double(NAN), double(INFINITY)})
    EXPECT_FALSE(Gaussian::make(bad)) << bad;
  EXPECT_FALSE(Gaussian::calibrate(0x1p40, 1000, *Rho::make(1e-20)));
  EXPECT_TRUE(Gaussian::make(16));
}

}  // namespace gaussian_test
}  // namespace parley::privacy
