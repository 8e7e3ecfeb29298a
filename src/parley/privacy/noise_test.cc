#include "parley/privacy/noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/entropy.h"
#include "support/statistics.h"
#include "support/words.h"

namespace parley::privacy {
namespace noise_test {

using test::chi_square_p_value, test::GoldenWords, test::ScriptedWords;

TEST(DiscreteLaplace, GivesTheGoldenSequence) {
  GoldenWords words;
  const std::vector<int64_t> golden = {13, -16, 8, 0, 9, 6, -13, 2, 6, -5, 12, -2, 3, 1, -2, 7};
  std::vector<int64_t> drawn;
  for (size_t i = 0; i < golden.size(); ++i) drawn.push_back(discrete_laplace(words, 10));
  EXPECT_EQ(drawn, golden);
  EXPECT_EQ(words.used(), 122u);
}

constexpr Uint128 k2To64 = Uint128{1} << 64;

TEST(Below, RejectsExactlyTheIncompleteBlock) {
  const uint64_t last = ~uint64_t{0};
  ScriptedWords three({last, 5});  // 2^64 = 3 * 0x5555555555555555 + 1: one value is rejected.
  EXPECT_EQ(below(three, 3), Uint256(2));
  EXPECT_EQ(three.used(), 2u);
  ScriptedWords four({last});
  EXPECT_EQ(below(four, 4), Uint256(3));
  ScriptedWords whole({last});
  EXPECT_EQ(below(whole, k2To64), Uint256(last));
  ScriptedWords wide({7, 1});  // Low word first.
  EXPECT_EQ(below(wide, k2To64 * 2), Uint256(k2To64 | 7));
  ScriptedWords wide_rejected({last, last, 4, 0});
  EXPECT_EQ(below(wide_rejected, k2To64 + 3), Uint256(4));
}

TEST(Below, TakesThreeAndFourWords) {
  const uint64_t last = ~uint64_t{0};
  const Uint256 n = full_product(k2To64, k2To64) + Uint256(5);  // 2^128 + 5
  // 2^192 = (2^64 - 1)(2^128 + 5) + 2^128 - 5 * 2^64 + 5: the last block is incomplete.
  ScriptedWords rejected({last, last, last, 9, 0, 1});
  EXPECT_EQ(below(rejected, n), Uint256(4));
  EXPECT_EQ(rejected.used(), 6u);
  ScriptedWords exact({1, 2});
  EXPECT_EQ(below(exact, full_product(k2To64, k2To64)), Uint256(k2To64 * 2 + 1));
  Uint256 half;
  half.word[3] = uint64_t{1} << 63;
  ScriptedWords four({1, 2, 3, last});
  EXPECT_EQ(below(four, half).word, (std::array<uint64_t, 4>{1, 2, 3, last >> 1}));
}

TEST(Noise, RefusesScalesItCannotDrawExactly) {
  GoldenWords words;
  EXPECT_DEATH(below(words, 0), "check failed");
  EXPECT_DEATH(bernoulli_exp(words, 1, 0), "check failed");
  EXPECT_DEATH(discrete_laplace(words, kScaleMax + 1), "check failed");
  EXPECT_DEATH(discrete_laplace(words, 0), "check failed");
  EXPECT_DEATH(DiscreteGaussian(0), "check failed");
  EXPECT_DEATH(DiscreteGaussian(DiscreteGaussian::kVarianceMax + 1), "check failed");
}

// 1,000,000 draws of exp(-2.5): 5.1 standard errors, 3e-7.
TEST(BernoulliExp, HasItsProbabilityBeyondOne) {
  test::SeededEntropy entropy(8, "beyond one");
  int hits = 0;
  for (int i = 0; i < 1'000'000; ++i) hits += bernoulli_exp(entropy, 5, 2);
  const double exact = std::exp(-2.5);
  EXPECT_NEAR(hits / 1e6, exact, 5.1 * std::sqrt(exact * (1 - exact) / 1e6));
}

double exact_pmf(int64_t k, double t) {
  return std::tanh(1 / (2 * t)) * std::exp(-std::fabs(double(k)) / t);
}

// G14, the Laplace row: pmf at scale 5, to 1e-12.
TEST(DiscreteLaplace, HasTheGoldenProbabilities) {
  const double golden[] = {0.099667994625, 0.0816012522971, 0.0668094547453, 0.0546989551963};
  for (int k = 0; k < 4; ++k) EXPECT_NEAR(exact_pmf(k, 5), golden[k], 1e-12);
}

constexpr int kDraws = 1'000'000;

std::vector<int64_t> draws(uint64_t scale, const char* label) {
  test::SeededEntropy entropy(8, label);
  std::vector<int64_t> values(kDraws);
  for (int64_t& value : values) value = discrete_laplace(entropy, scale);
  return values;
}

double variance(const std::vector<int64_t>& values) {
  double sum = 0, squares = 0;
  for (int64_t value : values) sum += double(value), squares += double(value) * double(value);
  const double n = double(values.size());
  return squares / n - sum / n * sum / n;
}

// S1. Kurtosis 6: the standard error is 0.224 %, so 1.15 % is passed by chance with 3e-7.
TEST(DiscreteLaplace, HasTheExactVariance) {
  const auto exact = [](double t) {
    return 2 * std::exp(-1 / t) / std::pow(1 - std::exp(-1 / t), 2);
  };
  const double found = variance(draws(5, "variance"));
  EXPECT_NEAR(found / exact(5), 1, 0.0115);
  EXPECT_GT(std::fabs(found / exact(5.1) - 1), 0.0115) << "the test has lost its power";
}

/// 39 cells of width t/4 around zero and two tails; cell bounds are integers, so exact.
double cell_p_value(const std::vector<int64_t>& values, int64_t width, double t) {
  constexpr int kInner = 39;
  const auto from_tail = [&](double k) {  // P[X >= k], k > 0
    return std::exp(-(k - 1) / t) / (std::exp(1 / t) + 1);
  };
  const auto at_least = [&](int64_t k) {
    return k > 0 ? from_tail(double(k)) : 1 - from_tail(double(1 - k));
  };
  std::vector<int64_t> bounds;  // The cell c is [bounds[c-1], bounds[c]).
  for (int c = 0; c <= kInner; ++c) bounds.push_back((2 * c - kInner) * width / 2);
  std::vector<uint64_t> observed(bounds.size() + 1);
  for (int64_t value : values)
    ++observed[size_t(std::upper_bound(bounds.begin(), bounds.end(), value) - bounds.begin())];
  std::vector<double> expected;
  for (size_t c = 0; c <= bounds.size(); ++c) {
    const double above = c == 0 ? 1 : at_least(bounds[c - 1]);
    const double below_it = c == bounds.size() ? 0 : at_least(bounds[c]);
    expected.push_back((above - below_it) * double(values.size()));
  }
  return chi_square_p_value(observed, expected);
}

// S3 on 41 cells, at a small scale and at 2^33: fails on correct code with probability 1e-6 each.
TEST(DiscreteLaplace, FollowsItsDistributionCellByCell) {
  const auto small = draws(50, "cells");
  EXPECT_GT(cell_p_value(small, 12, 50), 1e-6);
  EXPECT_LT(cell_p_value(small, 12, 51), 1e-6) << "the test has lost its power";
  const int64_t huge = int64_t{1} << 33;
  const auto large = draws(uint64_t(huge), "large cells");
  EXPECT_GT(cell_p_value(large, huge / 4, double(huge)), 1e-6);
  EXPECT_LT(cell_p_value(large, huge / 4, double(huge) * 1.02), 1e-6)
      << "the test has lost its power";
}

double correlation(const std::vector<int64_t>& values, size_t lag) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    sum += double(values[i]) * double(values[(i + lag) % values.size()]);
    squares += double(values[i]) * double(values[i]);
  }
  return sum / squares;
}

// S4: 5.1 standard errors, 3e-7 each. Lag 1 is along a coordinate, lag 10 across those of p = 10.
TEST(DiscreteLaplace, DrawsAreUncorrelated) {
  auto values = draws(1000, "correlation");
  for (size_t lag : {size_t{1}, size_t{2}, size_t{10}})
    EXPECT_LT(std::fabs(correlation(values, lag)), 0.0051) << lag;
  for (size_t i = 1; i < values.size(); ++i) values[i] += values[i - 1] / 100;
  EXPECT_GT(std::fabs(correlation(values, 1)), 0.0051) << "the test has lost its power";
}

// At the largest scale every draw is a legal int64, and the sign is fair: 40,000 draws, 5.5 sigma.
TEST(DiscreteLaplace, WorksAtTheLargestScale) {
  test::SeededEntropy entropy(8, "largest");
  int positive = 0;
  for (int i = 0; i < 40'000; ++i) positive += discrete_laplace(entropy, kScaleMax) > 0;
  EXPECT_NEAR(positive, 20'000, 550);
}

}  // namespace noise_test
}  // namespace parley::privacy
