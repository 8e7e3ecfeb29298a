// The exact discrete Gaussian: golden streams, its distribution, its width.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "parley/privacy/noise.h"
#include "support/entropy.h"
#include "support/statistics.h"
#include "support/words.h"

namespace parley::privacy {
namespace discrete_gaussian_test {

using Integers = std::vector<int64_t>;

Integers draw(const DiscreteGaussian& gaussian, Entropy& entropy, size_t count) {
  Integers values(count);
  for (int64_t& value : values) value = gaussian.sample(entropy);
  return values;
}

TEST(DiscreteGaussian, GivesTheGoldenSequences) {
  test::GoldenWords words, other;
  EXPECT_EQ(draw(DiscreteGaussian(100), words, 16),
            (Integers{17, 16, -3, -1, -1, -15, 1, 22, 0, 4, 13, 20, -19, -14, 8, -5}));
  EXPECT_EQ(words.used(), 240u);
  EXPECT_EQ(draw(DiscreteGaussian(5, 2), other, 16),
            (Integers{3, -1, 0, -3, -1, 2, 0, 1, 1, -1, 0, -1, -1, 2, 0, -2}));
  EXPECT_EQ(other.used(), 209u);
}

/// P[X = k] by its definition.
double exact_pmf(int64_t k, double variance) {
  double total = 1;
  const auto end = int64_t(std::sqrt(variance) * 12) + 2;
  for (int64_t i = 1; i <= end; ++i) total += 2 * std::exp(-double(i) * double(i) / (2 * variance));
  return std::exp(-double(k) * double(k) / (2 * variance)) / total;
}

/// Every integer within 2.5 sigma is a cell, and the tails two more.
double integer_p_value(const Integers& values, double variance) {
  const auto reach = int64_t(2.5 * std::sqrt(variance));
  std::vector<uint64_t> observed(size_t(2 * reach + 3));
  for (int64_t value : values)
    ++observed[size_t(std::clamp(value, -reach - 1, reach + 1) + reach + 1)];
  std::vector<double> expected(observed.size());
  double inside = 0;
  for (int64_t k = -reach; k <= reach; ++k)
    inside += expected[size_t(k + reach + 1)] = exact_pmf(k, variance) * double(values.size());
  expected.front() = expected.back() = (double(values.size()) - inside) / 2;
  return test::chi_square_p_value(observed, expected);
}

// Each fails on correct code with probability 1e-6.
TEST(DiscreteGaussian, FollowsItsDistributionIntegerByInteger) {
  for (const uint64_t numerator : {2, 5, 200}) {
    test::SeededEntropy entropy(9, "integers");
    const Integers values = draw(DiscreteGaussian(numerator, 2), entropy, 1'000'000);
    EXPECT_GT(integer_p_value(values, double(numerator) / 2), 1e-6) << numerator;
    EXPECT_LT(integer_p_value(values, double(numerator) / 2 * 1.02), 1e-6) << "no power";
  }
}

/// P[X >= k] for large sigma: the sum over integers is that of the normal density from k - 1/2 on,
/// to a relative 1/(24 sigma^2).
double normal_tail(double k, double sigma) { return std::erfc((k - 0.5) / sigma / M_SQRT2) / 2; }

/// 101 cells from -2.5 to 2.5 sigma, one beyond on either side, one from 4 sigma on.
double cell_p_value(const Integers& values, double sigma) {
  std::vector<double> bounds{-4 * sigma};
  for (int i = -50; i <= 50; ++i) bounds.push_back(std::floor(i * sigma / 20));
  bounds.push_back(4 * sigma);
  std::vector<uint64_t> observed(bounds.size() + 1);
  for (int64_t value : values)
    ++observed[size_t(std::upper_bound(bounds.begin(), bounds.end(), double(value)) -
                      bounds.begin())];
  std::vector<double> expected;
  double above = 1;
  for (double bound : bounds) {
    const double tail = normal_tail(bound, sigma);
    expected.push_back((above - tail) * double(values.size()));
    above = tail;
  }
  expected.push_back(above * double(values.size()));
  return test::chi_square_p_value(observed, expected);
}

DiscreteGaussian of_sigma(uint64_t sigma) { return DiscreteGaussian(Uint128{sigma} * sigma); }

// Two words up to 2^31, three up to 2^47, then four: 128 bits would have wrapped from 2^28 on. Each
// fails on correct code with probability 1e-6.
TEST(DiscreteGaussian, FollowsItsDistributionAtEveryWidth) {
  for (int bits : {20, 28, 31, 32, 33, 40, 48, 55}) {
    test::SeededEntropy entropy(10, "widths", uint64_t(bits));
    const double sigma = std::ldexp(1, bits);
    const Integers values =
        draw(of_sigma(uint64_t{1} << bits), entropy, bits == 33 ? 1'000'000 : 200'000);
    EXPECT_GT(cell_p_value(values, sigma), 1e-6) << bits;
    EXPECT_LT(cell_p_value(values, sigma * 1.03), 1e-6) << "no power at " << bits;
  }
}

// Where the divisor is still one word and the square of a larger draw no longer is. Each fails on
// correct code with probability 1e-6.
TEST(DiscreteGaussian, FollowsItsDistributionAtTheEdgeOfOneWord) {
  for (const uint64_t sigma : {16'384, 32'768, 40'000, 46'341, 54'000, 56'000}) {
    test::SeededEntropy entropy(11, "edge", sigma);
    const Integers values = draw(of_sigma(sigma), entropy, 200'000);
    EXPECT_GT(cell_p_value(values, double(sigma)), 1e-6) << sigma;
  }
}

// A sampler that wrapped would show 2e-3 beyond 5 sigma: of 1,000,000 draws 0.57 are expected, and
// more than 12 have probability 2e-13.
TEST(DiscreteGaussian, HasLightTailsAtSigma2To33) {
  test::SeededEntropy entropy(10, "tails");
  const double sigma = 0x1p33;
  int beyond = 0;
  for (int64_t value : draw(of_sigma(uint64_t{1} << 33), entropy, 1'000'000))
    beyond += std::fabs(double(value)) > 5 * sigma;
  EXPECT_LE(beyond, 12);
}

// 1,000,000 draws: mean and variance within 6 standard errors, 2e-9 each.
TEST(DiscreteGaussian, HasMeanZeroAndItsVariance) {
  test::SeededEntropy entropy(10, "moments");
  const double sigma = 0x1p30, n = 1e6;
  double sum = 0, squares = 0;
  for (int64_t value : draw(of_sigma(uint64_t{1} << 30), entropy, 1'000'000))
    sum += double(value) / sigma, squares += double(value) / sigma * (double(value) / sigma);
  EXPECT_LT(std::fabs(sum / std::sqrt(n)), 6);
  EXPECT_LT(std::fabs((squares - n) / std::sqrt(2 * n)), 6);
}

// 1,000,000 draws within 5.1 standard errors, 3e-7 each: S2, and a parameter so small that the
// variance falls short of it.
TEST(DiscreteGaussian, HasTheGoldenVariances) {
  const auto variance = [](const DiscreteGaussian& gaussian, const char* label) {
    test::SeededEntropy entropy(11, label);
    double squares = 0;
    for (int64_t value : draw(gaussian, entropy, 1'000'000)) squares += double(value * value);
    return squares / 1e6;
  };
  EXPECT_NEAR(variance(DiscreteGaussian(25), "25"), 25, .0072 * 25);
  EXPECT_NEAR(variance(DiscreteGaussian(5, 2), "5/2"), 2.5, .0072 * 2.5);
  const double exact = 0.215012675088;  // Nearly all values are -1, 0 and 1.
  const double error = 5.1 * std::sqrt(exact * (1.01 - exact) / 1e6);
  EXPECT_NEAR(variance(DiscreteGaussian(1, 4), "1/4"), exact, error);
}

TEST(DiscreteGaussian, WorksAtTheLargestVariance) {
  test::SeededEntropy entropy(10, "largest");
  const DiscreteGaussian largest(DiscreteGaussian::kVarianceMax);
  EXPECT_GT(cell_p_value(draw(largest, entropy, 100'000), 0x1p56), 1e-6);
}

}  // namespace discrete_gaussian_test
}  // namespace parley::privacy
