#include <gtest/gtest.h>

#include <cmath>

#include "parley/base/math/seeded_random.h"
#include "parley/forecast/propagate/moments.h"

namespace parley::forecast {
namespace async_moments_test {

using learn::AsyncDescent, learn::AsyncOutput, learn::AsyncRule;

AsyncRule rule_of(double step, double l2, uint64_t rounds, AsyncOutput output) {
  return {.step = step, .l2 = l2, .box = 1e9, .dimension = 1, .rounds = rounds, .output = output};
}

double cost(const AsyncRule& rule, std::span<const AsyncGroup> groups) {
  double sum = 0;
  for (const auto& [h, optimum] : {std::pair(2.0, 1.0), std::pair(.5, -.5)})
    sum += .5 * (h + rule.l2) * async_moments(rule, groups, {h, optimum}).square;
  return sum;
}

TEST(AsyncMoments, MatchTheGoldenOfExchangeableOwners) {  // G9
  const std::vector<AsyncGroup> owners = {{3, 1 / 3.0, 1 / 3.0, .04}};
  const double golden[] = {1.075, 0.9509193281277, 0.7980619110498, 0.6566523497015};
  for (uint64_t rounds = 1; rounds <= 4; ++rounds)
    EXPECT_NEAR(cost(rule_of(.2, .02, rounds, AsyncOutput::kLast), owners), golden[rounds - 1],
                1e-12);
}

/// All sequences of owners one after the other, through the learner's own code; noise enters
/// linearly, so that its variance is the sum of squares of what unit noise in each round does.
double enumerated(AsyncRule rule, std::span<const AsyncGroup> owners, AsyncDirection d,
                  const std::vector<double>& pulls = {0, 0, 0}) {
  for (const AsyncGroup& owner : owners) rule.add(owner.weight, owner.probability);
  rule.set_steps();
  const auto end = [&](uint64_t sequence, uint64_t noisy) {
    AsyncDescent descent(rule);
    for (uint64_t k = 0; k < rule.rounds; ++k, sequence /= owners.size()) {
      const size_t i = sequence % owners.size();
      const double slope =
          owners[i].relative_curvature * d.curvature * (descent.middle(i)[0] - d.optimum) -
          rule.l2 * d.optimum + pulls[i];
      const double noise = k == noisy ? std::sqrt(owners[i].variance) : 0;
      descent.step(i, std::vector{slope + noise});
    }
    return descent.output()[0] - d.optimum;
  };
  double expected = 0;
  const auto all = static_cast<uint64_t>(std::pow(owners.size(), rule.rounds));
  for (uint64_t sequence = 0; sequence < all; ++sequence) {
    double probability = 1;
    for (uint64_t k = 0, rest = sequence; k < rule.rounds; ++k, rest /= owners.size())
      probability *= owners[rest % owners.size()].probability;
    const double quiet = end(sequence, rule.rounds);
    double square = quiet * quiet;
    for (uint64_t k = 0; k < rule.rounds; ++k) square += std::pow(end(sequence, k) - quiet, 2);
    expected += probability * square;
  }
  return expected;
}

TEST(AsyncMoments, EqualTheEnumerationOfAllSequencesForDifferentOwners) {
  const std::vector<AsyncGroup> owners = {{1, .5, .6, .04}, {1, .3, .3, .5}, {1, .2, .1, .01}};
  for (const auto output : {AsyncOutput::kLast, AsyncOutput::kTail, AsyncOutput::kCopies}) {
    const AsyncRule rule = rule_of(.2, .4, 5, output);
    const AsyncDirection direction{2, .7};
    EXPECT_NEAR(async_moments(rule, owners, direction).square, enumerated(rule, owners, direction),
                1e-13);
  }
}

/// Rows deviate by plus or minus their standard error, all eight ways alike: what each owner's
/// gradient at the joint optimum then is.
std::vector<double> pulls_of(unsigned signs, std::span<const AsyncGroup> owners, double variance) {
  double rows = 0, mean = 0;
  std::vector<double> pulls;
  for (size_t i = 0; i < owners.size(); ++i) {
    pulls.push_back((signs >> i & 1 ? 1 : -1) * std::sqrt(variance / owners[i].rows));
    rows += owners[i].rows, mean += owners[i].rows * pulls.back();
  }
  for (double& pull : pulls) pull -= mean / rows;
  return pulls;
}

TEST(AsyncMoments, EqualTheEnumerationOfOwnersWhoseRowsPullDifferently) {  // 4.3(b)
  const std::vector<AsyncGroup> owners = {
      {1, .5, .6, .04, 60}, {1, .3, .3, .5, 30}, {1, .2, .1, .01, 10}};
  for (const auto output : {AsyncOutput::kLast, AsyncOutput::kTail, AsyncOutput::kCopies}) {
    const AsyncRule rule = rule_of(.2, .4, 4, output);
    const AsyncDirection direction{2, .7, 25};
    double expected = 0;
    for (unsigned signs = 0; signs < 8; ++signs)
      expected += enumerated(rule, owners, direction, pulls_of(signs, owners, 25)) / 8;
    EXPECT_NEAR(async_moments(rule, owners, direction).square, expected, 1e-13);
    EXPECT_GT(expected, 1.01 * enumerated(rule, owners, direction));
  }
}

TEST(AsyncMoments, EqualTheEnumerationOfOwnersWhoseRowsBendDifferently) {  // 4.3(b), H_i
  const std::vector<AsyncGroup> owners = {
      {1, .5, .6, .04, 0, .5}, {1, .3, .3, .5, 0, 2}, {1, .2, .1, .01, 0, 1}};
  auto alike = owners;
  for (AsyncGroup& owner : alike) owner.relative_curvature = 1;
  for (const auto output : {AsyncOutput::kLast, AsyncOutput::kTail, AsyncOutput::kCopies}) {
    const AsyncRule rule = rule_of(.2, .4, 5, output);
    const AsyncDirection direction{2, .7};
    const double found = async_moments(rule, owners, direction).square;
    EXPECT_NEAR(found, enumerated(rule, owners, direction), 1e-13);
    EXPECT_GT(std::fabs(found / async_moments(rule, alike, direction).square - 1), .001);
  }
}

// Owners of equal shares deviate by d plus or minus, all eight ways alike, from each other: the
// mean of what is left after the joint optimum is found is their declared variance.
TEST(AsyncMoments, EqualTheEnumerationOfOwnersThatAreDeclaredToDiffer) {
  const std::vector<AsyncGroup> owners = {
      {1, .5, .4, .04, 9}, {1, .3, .4, .5, 9}, {1, .2, .2, .1, 9}};
  const double differ = .3, each = differ / (1 - 1 / 3.0);
  const AsyncRule rule = rule_of(.2, .4, 4, AsyncOutput::kTail);
  double expected = 0;
  for (unsigned signs = 0; signs < 8; ++signs)
    expected += enumerated(rule, owners, {2, .7}, pulls_of(signs, owners, 9 * each)) / 8;
  EXPECT_NEAR(async_moments(rule, owners, {2, .7, 0, differ}).square, expected, 1e-13);
}

TEST(AsyncMoments, OfAGroupAreThoseOfItsOwnersOneByOne) {
  const std::vector<AsyncGroup> together = {{2, .25, .2, .1, 20}, {1, .5, .6, .3, 60}};
  const std::vector<AsyncGroup> apart = {
      {1, .25, .2, .1, 20}, {1, .25, .2, .1, 20}, {1, .5, .6, .3, 60}};
  for (const auto output : {AsyncOutput::kLast, AsyncOutput::kTail, AsyncOutput::kCopies}) {
    const AsyncRule rule = rule_of(.1, .1, 40, output);
    const auto a = async_moments(rule, together, {1.5, -.4, 9});
    const auto b = async_moments(rule, apart, {1.5, -.4, 9});
    EXPECT_NEAR(a.square, b.square, 1e-13);
    EXPECT_NEAR(a.mean, b.mean, 1e-13);
  }
}

TEST(AsyncMoments, AreAffineInTheVariances) {
  const AsyncRule rule = rule_of(.1, .1, 30, AsyncOutput::kTail);
  const auto at = [&](double first, double second) {
    return async_moments(rule, std::vector<AsyncGroup>{{2, .25, .2, first}, {1, .5, .6, second}},
                         {1, .3})
        .square;
  };
  EXPECT_NEAR(at(3, 5) - at(0, 0), 3 * (at(1, 0) - at(0, 0)) + 5 * (at(0, 1) - at(0, 0)), 1e-12);
}

/// The mean of f - f* of runs of the learner's own code, ten equal directions.
double simulated(AsyncRule rule, double curvature, double optimum, double scale, size_t runs) {
  rule.dimension = 10;
  for (int i = 0; i < 3; ++i) rule.add(1 / 3.0, 1);
  rule.set_steps();
  SeededRandom random(11, 3);
  double sum = 0;
  for (size_t r = 0; r < runs; ++r) {
    AsyncDescent descent(rule);
    std::vector<double> slope(10);
    while (!descent.finished()) {
      const auto i = static_cast<size_t>(random.index(3));
      const auto point = descent.middle(i);
      for (size_t j = 0; j < 10; ++j) {
        const double u = random.uniform() - .5;
        slope[j] = curvature * (point[j] - optimum) - rule.l2 * optimum +
                   (u < 0 ? 1 : -1) * scale * std::log(1 - 2 * std::fabs(u));
      }
      descent.step(i, slope);
    }
    for (double value : descent.output()) sum += std::pow(value - optimum, 2);
  }
  return sum / static_cast<double>(runs) * .5 * (curvature + rule.l2);
}

// S7: 4,000 runs have a standard error of 0.9 %; five of them fail with probability 6e-7.
TEST(AsyncMoments, AgreeWithRunsOfTheLearnersCode) {
  for (const auto output : {AsyncOutput::kLast, AsyncOutput::kTail}) {
    const AsyncRule rule = rule_of(.25, 2e-5, 1000, output);
    const double scale = .04;
    const std::vector<AsyncGroup> owners = {{3, 1 / 3.0, 1 / 3.0, 2 * scale * scale}};
    const double expected = 10 * .5 * (2 + rule.l2) * async_moments(rule, owners, {2, .1}).square;
    EXPECT_NEAR(simulated(rule, 2, .1, scale, 4000) / expected, 1, .044);
  }
}

TEST(AsyncGroups, KeepOwnersThatDifferApartAndMergeNeighboursBeyondTheLimit) {
  AsyncRule rule = rule_of(.1, 0, 10, AsyncOutput::kTail);
  std::vector<double> variances;
  for (int i = 0; i < 12; ++i) rule.add(1 / 12.0, 1), variances.push_back(i < 6 ? 1 : 4);
  rule.set_steps();
  const auto two = grouped(rule, variances, std::vector<double>(12, 100), 4);
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].owners, 6);
  EXPECT_EQ(two[1].variance, 4);
  const auto one = grouped(rule, variances, std::vector<double>(12, 100), 1);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].owners, 12);
  EXPECT_NEAR(one[0].variance, 2.5, 1e-15);
  EXPECT_NEAR(one[0].weight, 1 / 12.0, 1e-15);
  const std::vector<double> equal(12, 1), rows(12, 100);
  std::vector<double> curvatures(12, .5);
  curvatures[7] = 3;
  const auto unlike = grouped(rule, equal, rows, 4, curvatures);
  ASSERT_EQ(unlike.size(), 2u);
  EXPECT_EQ(unlike[1].relative_curvature, 3);
  EXPECT_NEAR(grouped(rule, equal, rows, 1, curvatures)[0].relative_curvature, 8.5 / 12, 1e-15);
}

}  // namespace async_moments_test
}  // namespace parley::forecast
