#include "parley/privacy/accounting/calibrate.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>

namespace parley::privacy {
namespace calibrate_test {

Accountant accountant(const char* name) { return *accountant_named(name); }

double factor(const Events& events, const char* by, double epsilon, double delta) {
  return calibrate(events, accountant(by), *Epsilon::make(epsilon), *Delta::make(delta),
                   Adjacency::kAddRemove)
      ->factor;
}

TEST(Calibrate, EqualsTheGoldenValuesOnTheSafeSide) {  // vertical 5.3, C1 to C4, G4, Z3
  const auto golden = [](double found, double published) {
    EXPECT_GE(found, published * (1 - 1e-6));
    EXPECT_LE(found, published * (1 + 2e-6));
  };
  golden(factor({{SampledGaussianEvent{.01, 1}, 1}}, "pld", 1, 1e-5), 0.6737929);
  golden(factor({{SampledGaussianEvent{.001, 1}, 25}}, "pld", 1, 1e-5), 0.5349270);
  golden(factor({{SampledGaussianEvent{.05, 1}, 200}}, "pld", 3, 1e-5), 1.286787);
  golden(factor({{LaplaceEvent{1}, 20}}, "pld", 1, 1e-4), 13.547131);
  golden(factor({{GaussianEvent{1}, 20}}, "gdp", 3, 1e-5), 6.21892299638135);
  golden(factor({{GaussianEvent{1}, 1}}, "zcdp", 1, 1e-6), 4.530877117);
}

// Other libraries have returned noise whose epsilon exceeds the target.
TEST(Calibrate, ReturnsTheSafeEndForEveryAccountantAndEpsilon) {
  const Events lists[] = {{{GaussianEvent{3}, 10}},
                          {{LaplaceEvent{.7}, 30}},
                          {{DiscreteLaplaceEvent{1 << 20, 1 << 10}, 4}},
                          {{LaplaceEvent{2}, 3}, {GaussianEvent{1}, 3}}};
  for (const Events& events : lists)
    for (const Accountant& by : accountants())
      for (double target : {1e-3, .1, 1., 30., 1e3}) {
        if (!by.epsilon(events, Delta{1e-6}, Adjacency::kReplaceOne)) continue;
        const auto found =
            calibrate(events, by, *Epsilon::make(target), Delta{1e-6}, Adjacency::kReplaceOne);
        ASSERT_TRUE(found) << by.name << " " << target;
        EXPECT_LE(found->epsilon, target) << by.name;
        const Events noisy = *with_noise_times(events, found->factor);
        EXPECT_LE(*by.epsilon(noisy, Delta{1e-6}, Adjacency::kReplaceOne), target) << by.name;
        const Events less = *with_noise_times(events, found->factor * (1 - 1e-4));
        EXPECT_GT(*by.epsilon(less, Delta{1e-6}, Adjacency::kReplaceOne), target) << by.name;
      }
}

// Others have taken 75 GB for this.
TEST(Calibrate, NeedsLittleMemoryAtSmallEpsilon) {
  const double found = factor({{SampledGaussianEvent{.01, 1}, 1000}}, "pld", .01, 1e-6);
  EXPECT_GT(found, 50);
  rusage usage{};
  ASSERT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(usage.ru_maxrss, 200 * 1024) << "kB";
#endif
}

// Also where the search passes so little noise that nothing is known.
TEST(Calibrate, TakesNoiseOfSharesAndSkellamNoise) {
  const Events lists[] = {{{SharesEvent{400, 6, 10, 100, 16}, 20}},
                          {{SkellamEvent{1000, 100, 16}, 20}},
                          {{SkellamEvent{3, 1, .1}, 1}}};
  for (const Events& events : lists)
    for (const char* name : {"zcdp", "rdp"}) {
      const auto found =
          calibrate(events, accountant(name), Epsilon{1.0}, Delta{1e-6}, Adjacency::kReplaceOne);
      ASSERT_TRUE(found) << name;
      EXPECT_LE(found->epsilon, 1) << name;
      const Events changed = *with_noise_times(events, found->factor);
      EXPECT_LE(*accountant(name).epsilon(changed, Delta{1e-6}, Adjacency::kReplaceOne), 1);
      const Events less = *with_noise_times(events, found->factor * .99);
      EXPECT_GT(*accountant(name).epsilon(less, Delta{1e-6}, Adjacency::kReplaceOne), 1) << name;
    }
}

TEST(Calibrate, SaysWhatItCannotCalibrate) {
  EXPECT_FALSE(calibrate({{ZcdpEvent{.1, 0}, 1}}, accountant("zcdp"), Epsilon{1.0}, Delta{1e-5},
                         Adjacency::kReplaceOne));
  EXPECT_FALSE(accountant_named("magic"));
}

TEST(Accountants, NameTheOneThatALedgerEnforces) {
  EXPECT_EQ(enforced_for({{GaussianEvent{1}, 1}}).name, "zcdp");
  EXPECT_EQ(enforced_for({{LaplaceEvent{1}, 1}}).name, "basic");
  EXPECT_EQ(enforced_for({{LaplaceEvent{1}, 1}, {GaussianEvent{1}, 1}}).name, "tracks");
  EXPECT_EQ(enforced_for({{SampledGaussianEvent{.1, 1}, 1}, {GaussianEvent{1}, 1}}).name, "rdp");
  EXPECT_EQ(enforced_for({{SampledGaussianEvent{.1, 1, 1e-9}, 1}}).name, "zcdp");
  EXPECT_EQ(enforced_for({{SkellamEvent{16, 1, 1}, 1}, {LaplaceEvent{1}, 1}}).name, "tracks");
}

TEST(Accountants, AgreeOnEpsilonAndDelta) {
  const Events lists[] = {{{GaussianEvent{3}, 10}}, {{LaplaceEvent{8}, 30}}};
  for (const Events& events : lists)
    for (const Accountant& by : accountants()) {
      const auto epsilon = by.epsilon(events, Delta{1e-6}, Adjacency::kReplaceOne);
      if (!epsilon) continue;
      const double delta = *by.delta(events, *epsilon, Adjacency::kReplaceOne);
      EXPECT_LE(delta, 1e-6 * (1 + 1e-3)) << by.name;
      EXPECT_GT(*by.delta(events, *epsilon * .8, Adjacency::kReplaceOne), 1e-6) << by.name;
    }
}

}  // namespace calibrate_test
}  // namespace parley::privacy
