#include "parley/privacy/mechanism/skellam.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "parley/privacy/mechanisms.h"
#include "support/entropy.h"
#include "support/statistics.h"

namespace parley::privacy {
namespace skellam_test {

static_assert(ListedMechanism<Skellam>);

/// ln of exp(-v) I_k(v) for k = 0 .. reach, backwards from where it vanishes.
std::vector<long double> log_pmf(double variance, size_t reach) {
  std::vector<long double> f(2 * reach + 2);
  f[2 * reach] = 1e-4500L;
  for (size_t k = 2 * reach; k > 0; --k)
    f[k - 1] = f[k + 1] + 2 * (long double)k / (long double)variance * f[k];
  long double total = f[0];
  for (size_t k = 1; k < f.size(); ++k) total += 2 * f[k];
  std::vector<long double> result;
  for (size_t k = 0; k <= reach; ++k) result.push_back(std::log(f[k] / total));
  return result;
}

/// D_alpha of the noise shifted by `shift` from the noise, by its definition.
double exact_renyi(double variance, int shift, double alpha) {
  const int reach = int(14 * std::sqrt(variance) + 3 * alpha * shift) + 60;
  const auto p = log_pmf(variance, size_t(reach));
  long double sum = 0;
  for (int k = -reach + shift; k <= reach; ++k)
    sum += std::exp((long double)alpha * p[size_t(std::abs(k - shift))] +
                    (1 - (long double)alpha) * p[size_t(std::abs(k))]);
  return double(std::log(sum) / (alpha - 1));
}

// The heart of the proof: no second difference of -ln P exceeds 1/v + 9/(4 v^2).
TEST(Skellam, IsNowhereSteeperThanTheProofSays) {
  for (double variance : {2., 3.5, 16., 100., 2'500.}) {
    const auto p = log_pmf(variance, size_t(12 * std::sqrt(variance)) + 20);
    const double bound = 1 / variance + 9 / (4 * variance * variance);
    const auto at = [&](int k) { return p[size_t(std::abs(k))]; };
    double largest = 0;
    for (int k = 0; k + 1 < int(p.size()); ++k)
      largest = std::max(largest, double(2 * at(k) - at(k - 1) - at(k + 1)));
    EXPECT_LE(largest, bound) << variance;
    EXPECT_GE(largest, 1 / variance) << "the bound would be loose";
  }
}

TEST(Skellam, CostsNoLessThanItsDivergencesOfEveryOrder) {
  for (double variance : {16., 40., 400.})
    for (int shift : {1, 2, 3, 10}) {
      const SkellamEvent event{variance, 1, double(shift)};
      for (double alpha : {1.001, 1.1, 1.25, 1.5, 1.9, 2., 2.5, 3., 3.7, 8.2, 20., 31.5}) {
        const double exact = exact_renyi(variance, shift, alpha);
        EXPECT_LE(exact, renyi_of_skellam(event, alpha))
            << variance << " " << shift << " " << alpha;
        EXPECT_LE(exact, skellam_rho(event) * alpha) << variance << " " << shift << " " << alpha;
      }
    }
}

TEST(Skellam, CostsNoMoreThanGaussianNoiseWhereTheLatticeIsFine) {
  const double sensitivity = 0x1p20, variance = 0x1p50;
  const Cost cost = Skellam::make(variance, 100)->cost(sensitivity);
  EXPECT_EQ(cost.track, Track::kZcdp);
  EXPECT_EQ(cost.delta, 0);
  const double gaussian = sensitivity * sensitivity / (2 * variance);
  EXPECT_GE(cost.amount, gaussian);
  EXPECT_LE(cost.amount, gaussian * (1 + 2e-5)) << "sqrt(100) / 2^20";
}

TEST(Skellam, CalibrationIsOnTheSafeSideAndTight) {
  for (double sensitivity : {5., 1000., 0x1p23})
    for (double rho : {.0243559703595, 1.})
      for (uint32_t answers : {1u, 20u, 300u}) {
        const auto skellam = Skellam::calibrate(sensitivity, answers, *Rho::make(rho), 30);
        ASSERT_TRUE(skellam);
        double spent = 0;
        for (uint32_t i = 0; i < answers; ++i)
          spent = add_up(spent, skellam->cost(sensitivity).amount);
        EXPECT_LE(spent, rho);
        const double squares = sensitivity * sensitivity + std::sqrt(30) * sensitivity;
        EXPECT_LE(skellam->variance(), squares * answers / (2 * rho) * (1 + 1e-9) + 8);
      }
  EXPECT_FALSE(Skellam::calibrate(0x1p40, 1000, *Rho::make(1e-6), 1));
}

// Closed under sums: whichever n shares are there, it is Skellam noise of n times the variance.
TEST(SkellamShare, CostsWhatOneOwnerWithAllTheNoiseWouldPay) {
  const Parties parties = *Parties::make(10, 8, 2);
  const SkellamShare share(*Skellam::make(100, 7), parties);
  EXPECT_EQ(share.cost(12).amount, Skellam::make(600, 7)->cost(12).amount);
  EXPECT_EQ(share.event(12), Skellam::make(600, 7)->event(12));
  EXPECT_EQ(share.event(12), "{\"skellam\":{\"dimension\":7,\"sensitivity\":12,\"variance\":600}}");
  const auto needed = *SkellamShare::calibrate(1000, 20, *Rho::make(.1), parties, 7);
  EXPECT_LE(20 * needed.cost(1000).amount, .1);
  const auto alone = *Skellam::calibrate(1000, 20, *Rho::make(.1), 7);
  EXPECT_NEAR(6 * needed.variance() / alone.variance(), 1, 1e-3);
}

// 200,000 sums of 3 shares against the distribution of one of three times the variance: 1e-6.
TEST(SkellamShare, AddsUpToSkellamNoise) {
  const SkellamShare share(*Skellam::make(18, 1), *Parties::make(4, 4, 1));
  test::SeededEntropy entropy(32, "sum");
  constexpr int kReach = 24, kDraws = 200'000;
  std::vector<uint64_t> observed(2 * kReach + 1);
  for (int i = 0; i < kDraws; ++i) {
    int64_t sum = 0;
    for (uint32_t k = 0; k < share.parties().honest(); ++k) sum += share.sample(entropy);
    ++observed[size_t(std::clamp<int64_t>(sum, -kReach, kReach) + kReach)];
  }
  const auto p_value = [&](double variance) {
    const auto p = log_pmf(variance, 400);
    std::vector<double> expected(observed.size());
    for (int k = -300; k <= 300; ++k)
      expected[size_t(std::clamp(k, -kReach, kReach) + kReach)] +=
          double(std::exp(p[size_t(std::abs(k))])) * kDraws;
    return test::chi_square_p_value(observed, expected);
  };
  EXPECT_GT(p_value(54), 1e-6);
  EXPECT_LT(p_value(56), 1e-6) << "no power";
}

TEST(Skellam, RefusesVariancesItCannotDrawExactly) {
  for (double bad : {0., 14., 17., 16.5, 0x1p61, -2., double(NAN), double(INFINITY)})
    EXPECT_FALSE(Skellam::make(bad, 1)) << bad;
  EXPECT_FALSE(Skellam::make(16, 0));
  EXPECT_TRUE(Skellam::make(0x1p60, 4096));
}

}  // namespace skellam_test
}  // namespace parley::privacy
