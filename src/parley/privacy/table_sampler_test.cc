#include "parley/privacy/table_sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/entropy.h"
#include "support/statistics.h"
#include "support/words.h"

namespace parley::privacy {
namespace table_sampler_test {

/// P(|X| = k) for k below `count`, in long double.
std::vector<long double> exact(long double variance, size_t count) {
  std::vector<long double> p(count);
  long double total = 0;
  for (size_t k = count; k-- > 0;) {
    p[k] = (k == 0 ? 1 : 2) * std::exp(-(long double)k * (long double)k / (2 * variance));
    total += p[k];
  }
  for (long double& each : p) each /= total;
  return p;
}

TEST(GaussianWeights, AddUpToTheWholeAndFollowTheDefinition) {
  for (uint64_t variance : {uint64_t{16}, uint64_t{100}, uint64_t{12345}, uint64_t{1} << 24}) {
    const auto weights = gaussian_weights(variance);
    const auto p = exact(variance, weights.size());
    EXPECT_GE(double(weights.size()), 14 * std::sqrt(double(variance)) + 4);
    Uint128 sum = 0;
    for (size_t k = 0; k < weights.size(); ++k) {
      sum += weights[k];
      ASSERT_NEAR(double((long double)weights[k] * 0x1p-127L - p[k]), 0,
                  1e-17 * (1 + double(p[k])));
      if (p[k] < 1e-30L) continue;
      ASSERT_NEAR(double((long double)weights[k] * 0x1p-127L / p[k]), 1, 1e-8) << k;
    }
    EXPECT_TRUE(sum == Uint128{1} << 127);
  }
}

// To the last of 127 bits, from 90 decimal digits.
TEST(GaussianWeights, EqualTheGoldenValues) {
  struct Golden {
    uint64_t variance, k, high, low;
  };
  for (const Golden& golden : {Golden{16, 1, 0x18bf2ba104becc72, 0x327e1349e4e5d053},
                               Golden{16, 20, 0x63c5a59323f, 0x4fc91224da051980},
                               Golden{100, 5, 0x9034b9a736911aa, 0x1e36f107a145aa9b},
                               Golden{16777216, 1000, 0x632164b6578ca, 0x9184341857179fe7},
                               Golden{16777216, 20000, 0x2c820051d, 0x6289f857c1509ac6}}) {
    const Uint128 weight = gaussian_weights(golden.variance)[golden.k];
    EXPECT_EQ(high_word(weight), golden.high) << golden.k;
    EXPECT_EQ(low_word(weight), golden.low) << golden.k;
  }
}

// G14, the Gaussian row: sigma 5.
TEST(GaussianWeights, HaveTheGoldenProbabilitiesAndVariance) {
  const double golden[] = {0.0797884560803, 0.0782085387951, 0.0736540280607, 0.0666449205784};
  const auto weights = gaussian_weights(25);
  const auto p = [&](size_t k) { return double(weights[k]) * 0x1p-127; };  // of |X| = k
  for (size_t k = 0; k < 4; ++k) EXPECT_NEAR(k == 0 ? p(k) : p(k) / 2, golden[k], 1e-12);
  double variance = 0;
  for (size_t k = 0; k < weights.size(); ++k) variance += double(k * k) * p(k);
  EXPECT_NEAR(variance, 25, 1e-10);
}

// 1,000,000 draws, every integer within 2.5 sigma or 100 cells: 1e-6 each.
TEST(TableSampler, FollowsItsDistribution) {
  for (uint64_t sigma : {4, 10, 100, 4096}) {
    const auto sampler = *TableSampler::make(sigma * sigma);
    test::SeededEntropy entropy(13, "table", sigma);
    const auto p = exact((long double)(sigma * sigma), 14 * sigma);
    const size_t width = std::max<size_t>(1, sigma / 20), cells = 5 * sigma / 2 / width;
    std::vector<uint64_t> observed(2 * cells + 1);
    std::vector<double> expected(2 * cells + 1);
    const auto cell_of = [&](int64_t value) {
      const size_t size = size_t(std::llabs(value)),
                   cell = std::min((size + width - 1) / width, cells);
      return value < 0 ? cells - cell : cells + cell;
    };
    for (int i = 0; i < 1'000'000; ++i) ++observed[cell_of(sampler.sample(entropy))];
    for (size_t k = 0; k < p.size(); ++k)
      for (int64_t side : {-1, 1}) expected[cell_of(side * int64_t(k))] += double(p[k]) / 2 * 1e6;
    EXPECT_GT(test::chi_square_p_value(observed, expected), 1e-6) << sigma;
    std::rotate(observed.begin(), observed.begin() + 1, observed.end());
    EXPECT_LT(test::chi_square_p_value(observed, expected), 1e-6) << "no power";
  }
}

// Column 0 of sigma 4 keeps 0 always or in part; a word of zeros is its first part, and never a
// negative zero.
TEST(TableSampler, TakesASecondWordOnlyInATie) {
  const auto sampler = *TableSampler::make(16);
  test::ScriptedWords words({0, 1, 0, 0});
  EXPECT_EQ(sampler.sample(words), 0);
  EXPECT_EQ(sampler.sample(words), 0);
  EXPECT_EQ(words.used(), 2u);
}

TEST(TableSampler, SaysHowFarFromExactItMayBe) {
  const auto largest = *TableSampler::make(TableSampler::kVarianceMax);
  EXPECT_LT(largest.distance(), 0x1p-111);
  EXPECT_GE(largest.distance(), 14 * 4096 * 0x1p-127);
  const double added = largest.delta_for(1e9, Epsilon{1.0});
  EXPECT_GE(added, 1e9 * largest.distance() * (1 + std::exp(1)));
  EXPECT_LT(added, 1e-23);
  EXPECT_FALSE(TableSampler::make(15));
  EXPECT_FALSE(TableSampler::make(TableSampler::kVarianceMax + 1));
}

}  // namespace table_sampler_test
}  // namespace parley::privacy
