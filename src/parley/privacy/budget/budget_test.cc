#include "parley/privacy/budget/budget.h"

#include <gtest/gtest.h>

#include <cmath>

#include "parley/base/math/number.h"
#include "parley/privacy/accounting/zcdp.h"

namespace parley::privacy {
namespace budget_test {

// Golden values of theory (N6) and (N9), to 50 digits elsewhere.
TEST(Zcdp, EqualsTheGoldenValuesOnTheSafeSide) {
  const double rho[] = {.01, .1, .5, 1, 5};
  const double golden[] = {0.545725548274, 1.914238832004, 4.728386984943, 7.077196695806,
                           19.047259552325};
  for (int i = 0; i < 5; ++i)
    EXPECT_NEAR(zcdp_epsilon(rho[i], Delta{1e-5}), golden[i], 1e-11 * golden[i]);
  EXPECT_NEAR(zcdp_rho(1, Delta{1e-6}), 0.0243559703595, 1e-12);
  EXPECT_NEAR(zcdp_rho(.1, Delta{1e-6}), 0.000321047690346, 1e-14);
  EXPECT_NEAR(zcdp_rho(10, Delta{1e-6}), 1.53927876387, 1e-10);
  EXPECT_NEAR(zcdp_rho(.5, Delta{1e-6}), .00664152435666, 1e-13);
}

TEST(Zcdp, RhoGoesBackToAtMostItsEpsilon) {
  for (double epsilon : {1e-3, .1, 1.0, 10.0, 1000.0})
    for (double delta : {1e-12, 1e-6, .01}) {
      const Delta d = *Delta::make(delta);
      const double rho = zcdp_rho(epsilon, d);
      EXPECT_LE(zcdp_epsilon(rho, d), epsilon);
      EXPECT_GT(zcdp_epsilon(rho * (1 + 1e-9), d), epsilon * (1 - 1e-6));
    }
  EXPECT_EQ(zcdp_rho(0, Delta{1e-6}), 0);
}

TEST(Budget, SplitsAPromiseIntoTracksThatKeepIt) {
  const Budget budget = *Budget::make(Epsilon{4.0}, 1e-6, 1.0);
  EXPECT_EQ(budget.pure_max, 1);
  EXPECT_LE(budget.delta_convert + budget.delta_extra, 1e-6);
  EXPECT_LE(budget.pure_max + zcdp_epsilon(budget.rho_max, *Delta::make(budget.delta_convert)), 4);
  EXPECT_GT(budget.rho_max, 0);
  const Budget pure = *Budget::make(Epsilon{1.0}, 0, 1);
  EXPECT_EQ(pure.rho_max, 0);
}

TEST(Budget, RefusesWhatCannotBeKept) {
  EXPECT_FALSE(Budget::make(Epsilon{1.0}, 0, .5));
  EXPECT_FALSE(Budget::make(Epsilon{1.0}, 1e-6, 1.5));
  EXPECT_FALSE(Budget::make(Epsilon{1.0}, -1e-6, 1));
  EXPECT_FALSE(Budget::make(Epsilon{1.0}, std::nan(""), 1));
}

TEST(Spent, AddsEachChargeToItsTrackAndNeverRoundsDown) {
  const Budget budget = *Budget::make(Epsilon{1.0}, 1e-6, .5);
  Spent spent;
  for (int i = 0; i < 10; ++i) spent = spent.plus({Track::kPure, .05, 0});
  EXPECT_GE(static_cast<long double>(spent.pure), 10 * static_cast<long double>(.05));
  spent = Spent{}.plus({Track::kPure, .5, 0}).plus({Track::kZcdp, budget.rho_max, 0});
  EXPECT_TRUE(spent.within(budget));
  EXPECT_FALSE(spent.plus({Track::kPure, 1e-9, 0}).within(budget));
  EXPECT_FALSE(spent.plus({Track::kZcdp, 1e-12, 0}).within(budget));
  EXPECT_FALSE(spent.plus({Track::kPure, 0, 1e-6}).within(budget));
  EXPECT_DEATH(spent.plus({Track::kPure, std::nan(""), 0}), "check failed");
}

// The filter: whatever is asked next, and however it depends on the answers so far, what was
// accepted keeps the promise, and a refusal leaves no trace.
TEST(Spent, NeverPassesALimitHoweverChargesAreChosen) {
  const Budget budget = *Budget::make(Epsilon{2.0}, 1e-6, .5);
  uint64_t state = 1;
  for (int run = 0; run < 20; ++run) {
    Spent spent;
    int refused = 0;
    for (int i = 0; i < 100; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const double part = static_cast<double>(state >> 40) * 0x1p-24;
      const bool pure = (state >> 39) % 2 == 0;
      const double left = pure ? budget.pure_max - spent.pure : budget.rho_max - spent.rho;
      const Spent next = spent.plus({pure ? Track::kPure : Track::kZcdp, 1.2 * part * left, 0});
      if (!next.within(budget)) {
        ++refused;
        continue;
      }
      spent = next;
      const double epsilon =
          spent.pure + zcdp_epsilon(spent.rho, *Delta::make(budget.delta_convert));
      EXPECT_LE(epsilon, budget.epsilon);
    }
    EXPECT_TRUE(spent.within(budget));
    EXPECT_GT(refused, 0);
  }
}

TEST(Units, RefuseWhatIsOutOfRange) {
  for (double bad : {0.0, -1.0, std::nan(""), HUGE_VAL}) EXPECT_FALSE(Epsilon::make(bad)) << bad;
  EXPECT_FALSE(Delta::make(1.0));
  EXPECT_TRUE(Delta::make(1e-5));
  static_assert(!std::is_constructible_v<Epsilon, Delta>);
  static_assert(!std::is_convertible_v<double, Epsilon>);
}

}  // namespace budget_test
}  // namespace parley::privacy
