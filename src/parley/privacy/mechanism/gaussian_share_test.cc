#include "parley/privacy/mechanism/gaussian_share.h"

#include <gtest/gtest.h>

#include <cmath>

#include "parley/privacy/mechanisms.h"
#include "support/entropy.h"
#include "support/statistics.h"

namespace parley::privacy {
namespace gaussian_share_test {

static_assert(SharedMechanism<GaussianShare> && SharedMechanism<SkellamShare>);
static_assert(!ListedMechanism<GaussianShare> && !ListedMechanism<SkellamShare>,
              "a share alone is too cheap");

GaussianShare share_of(double variance, uint32_t present, uint32_t survivors, uint32_t colluders,
                       size_t dimension) {
  return *GaussianShare::make(variance, *Parties::make(present, survivors, colluders), dimension);
}

// The golden values of vertical 4.6 are of n = m shares; here one share more is a colluder's. At
// s = 4, the least that is allowed, tau does not show.
TEST(GaussianShare, CostsTheSumOfTheSharesThatAreSurelyThere) {
  const GaussianShare share = share_of(16, 11, 11, 1, 1000);
  EXPECT_EQ(share.cost(2).track, Track::kZcdp);
  EXPECT_EQ(share.cost(2).delta, 0);
  EXPECT_NEAR(share.cost(2).amount, .0125, 1e-14) << "as n = 10, s = 2, D = 1";
  EXPECT_GE(share.cost(2).amount, .0125);
  EXPECT_NEAR(share_of(16, 11, 9, 3, 1000).cost(2).amount, .0125 * 10 / 6, 1e-14);
  for (double s : {1., 1.5, 2.})  // Narrower shares are charged for not being Gaussian.
    EXPECT_GT(share_sum_rho(Shares{s, 10, 11}, 1000, 1), 1 / (20 * s * s));
}

TEST(GaussianShare, CostsMoreWithFewerSurvivorsAndMoreColluders) {
  const double all = share_of(64, 10, 10, 1, 50).cost(8).amount;
  EXPECT_GT(share_of(64, 10, 8, 1, 50).cost(8).amount, all);
  EXPECT_GT(share_of(64, 10, 10, 3, 50).cost(8).amount, all);
  EXPECT_GE(share_of(64, 20, 10, 1, 50).cost(8).amount, all);
  EXPECT_FALSE(Parties::make(3, 3, 0)) << "nobody to hide from is no reason not to";
  EXPECT_FALSE(Parties::make(3, 2, 2));
  EXPECT_FALSE(Parties::make(3, 4, 1));
}

// V/(s - c), to rounding; checked forwards as the ledger adds up.
TEST(GaussianShare, CalibrationSplitsTheNoiseOfOneOwnerAmongTheHonest) {
  const Parties parties = *Parties::make(10, 8, 2);
  for (double sensitivity : {5., 1000., 0x1p25})
    for (double rho : {1e-3, .0243559703595, 1.})
      for (uint32_t answers : {1u, 20u, 300u}) {
        const auto share =
            GaussianShare::calibrate(sensitivity, answers, *Rho::make(rho), parties, 100);
        ASSERT_TRUE(share);
        double spent = 0;
        for (uint32_t i = 0; i < answers; ++i)
          spent = add_up(spent, share->cost(sensitivity).amount);
        EXPECT_LE(spent, rho);
        const double needed = sensitivity * sensitivity * answers / (2 * rho) / 6;
        EXPECT_GE(share->variance(), needed * (1 - 1e-15));
        EXPECT_LE(share->variance(), std::fmax(16, needed * (1 + 1e-9) + 3));
      }
  EXPECT_FALSE(GaussianShare::calibrate(0x1p40, 1000, *Rho::make(1e-20), parties, 1));
  EXPECT_FALSE(GaussianShare::make(15, parties, 1)) << "sigma below 4";
}

// Whoever drops out, what is left is at least the noise that was charged. 200,000 sums of the 6
// honest shares: below 6 standard errors of a variance with probability 1e-9.
TEST(GaussianShare, TheNoiseOfTheHonestIsNotBelowWhatIsCharged) {
  const Parties parties = *Parties::make(10, 8, 2);
  const auto share = *GaussianShare::calibrate(100, 1, *Rho::make(.1), parties, 4);
  test::SeededEntropy entropy(31, "shares");
  const double charged = 100. * 100 / (2 * share.cost(100).amount), n = 200'000;
  double squares = 0, with_dropouts = 0;
  for (int i = 0; i < int(n); ++i) {
    double sum = 0, first = 0;
    for (uint32_t k = 0; k < parties.honest(); ++k) {
      sum += double(share.sample(entropy));
      if (k == 4) first = sum;
    }
    squares += sum * sum, with_dropouts += first * first;
  }
  const double error = 6 * std::sqrt(2 / n);
  EXPECT_GT(squares / n, charged * (1 - error));
  EXPECT_LT(squares / n, charged * (1 + error) + 1);
  EXPECT_LT(with_dropouts / n, charged * (1 - error)) << "no power: one honest share is missing";
}

TEST(GaussianShare, TheEventSaysWhatAnAccountantNeeds) {
  EXPECT_EQ(share_of(400, 10, 8, 2, 100).event(16),
            "{\"gaussian_shares\":{\"dimension\":100,\"honest\":6,\"present\":10,"
            "\"sensitivity\":16,\"variance\":400}}");
}

TEST(GaussianShare, IsDrawnForTheDimensionItIsChargedFor) {
  test::SeededEntropy entropy(31, "dimension");
  const GaussianShare share = share_of(64, 3, 3, 1, 5);
  const Drawn<GaussianShare> drawn(share, 5, entropy);
  EXPECT_EQ(drawn.mechanism().dimension(), 5u);
  EXPECT_DEATH(Drawn<GaussianShare>(share, 6, entropy), "check failed");
}

}  // namespace gaussian_share_test
}  // namespace parley::privacy
