#include "parley/privacy/mechanism/sampled_gaussian.h"

#include <gtest/gtest.h>

#include <cmath>

#include "parley/privacy/accounting/event_json.h"
#include "parley/privacy/accounting/gdp.h"
#include "parley/privacy/accounting/pld/pld.h"
#include "parley/privacy/budget/tracks.h"
#include "parley/privacy/mechanisms.h"
#include "support/entropy.h"
#include "support/words.h"

namespace parley::privacy {

struct SampleForTest {
  static const std::vector<uint8_t>& chosen(const Sample& sample) { return sample.chosen_; }
};

namespace sampled_gaussian_test {

static_assert(!ListedMechanism<SampledGaussian> && !SharedMechanism<SampledGaussian>,
              "there is no pass over a sample yet");
static_assert(!std::is_same_v<SampledGaussian::Norm, Gaussian::Norm>,
              "a sum over all records is no sum over a sample");
static_assert(!std::is_copy_constructible_v<Sample>);

SampledGaussian sampled(double q, double sigma, double delta) {
  return *SampledGaussian::make(q, sigma * sigma, *Delta::make(delta));
}

double exact_removal(double q, double sigma_over_norm, double epsilon) {
  return q * gdp_delta(1 / sigma_over_norm, std::log1p(std::expm1(epsilon) / q));
}

// Both add/remove steps of one answer, by the exact curve of continuous noise of the same width.
TEST(SampledStep, IsNeverBelowTheExactCurve) {
  for (double q : {1. / 1024, 1. / 64, .25, .75})
    for (double multiplier : {.4, 1., 5., 50.})
      for (double delta : {1e-4, 1e-8, 1e-12}) {
        const SampledGaussianEvent event{q, multiplier, delta};
        const auto one = sampled_step(event, Adjacency::kAddRemove);
        EXPECT_LE(exact_removal(q, multiplier, one.epsilon), one.delta) << q << " " << multiplier;
        EXPECT_NEAR(one.delta, q * delta, 1e-15 * delta);
        const auto two = sampled_step({q, multiplier / 2, delta}, Adjacency::kReplaceOne);
        EXPECT_EQ(two.epsilon, 2 * one.epsilon);
        const double both = std::min(1., (1 + std::exp(one.epsilon)) * one.delta);
        EXPECT_NEAR(two.delta, both, 1e-12 * both);
      }
}

// Against the pair of privacy losses that replacing a record has in one dimension.
TEST(SampledStep, IsNeverBelowTheReplacementOfARecord) {
  for (double q : {1. / 64, .25})
    for (double multiplier : {.5, 1., 5.}) {
      const SampledGaussianEvent event{q, multiplier, 1e-8};
      const auto step = sampled_step(event, Adjacency::kReplaceOne);
      EXPECT_LE(*pld_delta({{event, 1}}, step.epsilon, Adjacency::kReplaceOne), step.delta);
    }
}

TEST(SampledGaussian, IsBookedAsTheWorstOfItsEpsilonAndItsDelta) {
  const SampledGaussian mechanism = sampled(1. / 128, 1000, 1e-10);
  const Cost cost = mechanism.cost(200);
  const auto step = sampled_step({1. / 128, 5, 1e-10}, Adjacency::kReplaceOne);
  EXPECT_EQ(cost.track, Track::kZcdp);
  EXPECT_NEAR(cost.amount, zcdp_of_pure(step.epsilon), 1e-12 * cost.amount);
  EXPECT_NEAR(cost.delta, step.delta, 1e-12 * cost.delta);
  EXPECT_LT(cost.amount, Gaussian::make(1e6)->cost(200).amount) << "sampling must pay";
}

TEST(SampledGaussian, TheBookingOfManyAnswersIsAboveTheirTightAccount) {
  const SampledGaussian mechanism = sampled(1. / 128, 1000, 1e-10);
  const Cost cost = mechanism.cost(200);
  const double booked =
      *tracks_epsilon({.rho = 100 * cost.amount, .delta = 100 * cost.delta}, Delta{1e-6});
  const double tight =
      *pld_epsilon({{SampledGaussianEvent{1. / 128, 5}, 100}}, Delta{1e-6}, Adjacency::kReplaceOne);
  EXPECT_GT(booked, tight);
}

TEST(SampledGaussian, ALedgerAndAnAccountantReadTheSamePriceFromItsEvent) {
  const SampledGaussian mechanism = sampled(3. / 64, 512, 1e-9);
  const auto events = events_from_json(mechanism.event(40), "event");
  ASSERT_TRUE(events);
  const Spent spent = *spent_on(*events, Track::kPure);
  EXPECT_EQ(spent.rho, mechanism.cost(40).amount);
  EXPECT_EQ(spent.delta, mechanism.cost(40).delta);
  EXPECT_EQ(spent.pure, 0);
}

// The coin is exact: a half word decides, and equality does not count.
TEST(Sample, TakesAUnitIfHalfAWordIsBelowTheNumerator) {
  const SampledGaussian mechanism = sampled(3 * 0x1p-32, 10, 1e-9);
  test::ScriptedWords words({uint64_t{3} << 32 | 2, uint64_t{0} << 32 | 3, 1});
  const Sample sample(mechanism, 5, words);
  EXPECT_EQ(SampleForTest::chosen(sample), (std::vector<uint8_t>{1, 0, 0, 1, 1}));
  EXPECT_EQ(words.used(), 3u);
}

// 1,000,000 coins, 6 standard errors: 2e-9; and as many neighbours are both in.
TEST(Sample, TakesEveryUnitWithItsProbabilityAndIndependently) {
  const double q = 5. / 64;
  test::SeededEntropy entropy(33, "sample");
  const Sample sample(sampled(q, 10, 1e-9), 1'000'000, entropy);
  const auto& chosen = SampleForTest::chosen(sample);
  double in = 0, both = 0;
  for (size_t i = 0; i < chosen.size(); ++i)
    in += chosen[i], both += chosen[i] && chosen[(i + 1) % chosen.size()];
  EXPECT_NEAR(in / 1e6, q, 6 * std::sqrt(q * (1 - q) / 1e6));
  EXPECT_NEAR(both / 1e6, q * q, 6 * std::sqrt(3 * q * q / 1e6));
  EXPECT_EQ(sample.probability(), q);
}

TEST(SampledGaussian, RefusesProbabilitiesItCannotDrawExactly) {
  for (double bad : {0., 1., .01, 1.5, -.25, 0x1p-33, double(NAN)})
    EXPECT_FALSE(SampledGaussian::make(bad, 100, Delta{1e-6})) << bad;
  EXPECT_TRUE(SampledGaussian::make(std::floor(.01 * 0x1p32) * 0x1p-32, 100, Delta{1e-6}));
  EXPECT_FALSE(SampledGaussian::make(.5, 15, Delta{1e-6}));
  EXPECT_FALSE(SampledGaussian::make(.5, 100, Delta{.9}));
}

}  // namespace sampled_gaussian_test
}  // namespace parley::privacy
