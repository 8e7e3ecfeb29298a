// More golden values: sigmas of zCDP, noise of shares beside Gaussian noise, and the account of a
// published setting (theory (N5) to (N9), (F9)). Rows that are not here are in
// accountants_test.cc, budget_test.cc, calibrate_test.cc and pld_test.cc.
#include <gtest/gtest.h>

#include <cmath>

#include "parley/privacy/accounting/accountants.h"
#include "parley/privacy/accounting/basic.h"
#include "parley/privacy/accounting/gdp.h"
#include "parley/privacy/accounting/rdp.h"
#include "parley/privacy/accounting/zcdp.h"

namespace parley::privacy {
namespace golden_test {

constexpr Delta kDelta{1e-5};

TEST(Golden, SigmasOfZcdp) {
  const double epsilon[] = {1, 3, 10};  // Z2
  const double sigma[] = {4.045130358, 1.493205503, 0.529598082};
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(1 / std::sqrt(2 * zcdp_rho(epsilon[i], kDelta)), sigma[i], 1e-9);
}

// C = 1, n = 10,000 rows, T = 100 answers: sigma of the mean is (2C/n) sqrt(T / (2 rho)).
TEST(Golden, SigmasOfTheMean) {
  const double epsilon[] = {1, .1, 10};  // G7
  const double sigma[] = {0.00906175423407, 0.0789278409362, 0.00113987271709};
  for (int i = 0; i < 3; ++i) {
    const double rho = zcdp_rho(epsilon[i], Delta{1e-6});
    EXPECT_NEAR(2. / 1e4 * std::sqrt(100 / (2 * rho)), sigma[i], 1e-8 * sigma[i]);
  }
}

TEST(Golden, RhoOfTheTableOfHorizontal31) {
  const double epsilon[] = {.1, 1, 2.5, 5, 10};
  const double rho[] = {3.2105e-4, 0.024356, 0.13275, 0.46306, 1.53928};
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(zcdp_rho(epsilon[i], Delta{1e-6}), rho[i], 5e-5 * rho[i]);
  EXPECT_NEAR(std::sqrt(2 * zcdp_rho(1, Delta{1e-6})), 0.22071, 5e-6);
  EXPECT_NEAR(gdp_mu(1, Delta{1e-6}), 0.23670, 5e-6);
}

// 20 answers of sensitivity 1. The golden values are of whole orders; with all of them Gaussian
// noise costs a little less, while for Skellam noise the next whole order is used.
TEST(Golden, SkellamBesideGaussianNoiseOfTheSameVariance) {
  const double variance[] = {16, 100, 1e4};
  const double skellam[] = {5.670697, 1.929693, 0.157344};
  const double gaussian[] = {5.377728, 1.916193, 0.157335};
  for (int i = 0; i < 3; ++i) {
    const double continuous = zcdp_epsilon(20 / (2 * variance[i]), kDelta);
    EXPECT_LT(continuous, gaussian[i] + 1e-6);
    EXPECT_GT(continuous, gaussian[i] * .998);
    const double found =
        *rdp_epsilon({{SkellamEvent{variance[i], 1, 1}, 20}}, kDelta, Adjacency::kReplaceOne);
    EXPECT_GT(found, skellam[i] - 1e-6);
    EXPECT_LT(found, skellam[i] * 1.02);
  }
}

// Twenty answers, each with the classical sigma for (1, 1e-5).
TEST(Golden, ThePublishedSettingOfTwentyRounds) {
  const double sigma = std::sqrt(2 * std::log(1.25e5));
  const Events events = {{GaussianEvent{sigma}, 20}};
  const auto by = [&](const char* name, double delta) {
    return *accountant_named(name)->epsilon(events, *Delta::make(delta), Adjacency::kReplaceOne);
  };
  EXPECT_NEAR(by("gdp", 1e-5), 3.9908, 5e-5);
  EXPECT_NEAR(by("gdp", 2.1e-4), 3.2730, 5e-5);
  EXPECT_NEAR(by("zcdp", 1e-5), 4.314, 5e-4);
  EXPECT_NEAR(*basic_epsilon({{ApproximateEvent{1, 1e-5}, 20}}, Delta{2.1e-4}), 20, 1e-12);
  EXPECT_NEAR(*advanced_formula({{ApproximateEvent{1, 1e-5}, 20}}, Delta{2.1e-4}), 55.8253, 1e-4);
}

}  // namespace golden_test
}  // namespace parley::privacy
