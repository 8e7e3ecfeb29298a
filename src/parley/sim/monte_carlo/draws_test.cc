#include "parley/sim/monte_carlo/draws.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/statistics.h"

namespace parley::sim::monte_carlo {
namespace draws_test {

std::vector<double> draws(Noise noise, size_t count, uint64_t run = 0, uint64_t first = 0) {
  std::vector<double> numbers(count);
  CounterDraws(7, noise).noise(3, run, first, numbers);
  return numbers;
}

TEST(MonteCarloDraws, ANumberDoesNotDependOnWhatIsDrawnWithIt) {
  for (Noise noise : {Noise::kLaplace, Noise::kGaussian}) {
    const std::vector<double> all = draws(noise, 2000);
    for (size_t first : {0u, 1u, 7u, 255u, 256u, 1001u}) {
      const std::vector<double> some = draws(noise, 300, 0, first);
      EXPECT_EQ(some, std::vector<double>(&all[first], &all[first] + 300)) << first;
    }
  }
}

TEST(MonteCarloDraws, SeedStreamAndRunEachMakeAnotherSequence) {
  std::vector<double> other(50);
  const std::vector<double> one = draws(Noise::kLaplace, 50);
  EXPECT_NE(one, draws(Noise::kLaplace, 50, 1));
  CounterDraws(8, Noise::kLaplace).noise(3, 0, 0, other);
  EXPECT_NE(one, other);
  CounterDraws(7, Noise::kLaplace).noise(4, 0, 0, other);
  EXPECT_NE(one, other);
}

// 40 cells of equal probability by the distribution function: fails with probability 1e-6 each.
TEST(MonteCarloDraws, LaplaceAndGaussianNumbersFollowTheirDistributions) {
  constexpr size_t kCount = 1'000'000, kCells = 40;
  for (Noise noise : {Noise::kLaplace, Noise::kGaussian}) {
    std::vector<uint64_t> counts(kCells);
    for (double x : draws(noise, kCount)) {
      const double laplace = x < 0 ? .5 * std::exp(x) : 1 - .5 * std::exp(-x);
      const double below = noise == Noise::kLaplace ? laplace : .5 * std::erfc(-x / std::sqrt(2));
      ++counts[std::min(kCells - 1, static_cast<size_t>(below * kCells))];
    }
    const std::vector<double> expected(kCells, double(kCount) / kCells);
    EXPECT_GT(test::chi_square_p_value(counts, expected), 1e-6);
  }
}

// The standard error of the variance of Laplace numbers is sqrt(20 / n), of Gaussian sqrt(2 / n),
// of the correlation with the number before 1 / sqrt(n): five of them fail with probability 6e-7
// each.
TEST(MonteCarloDraws, VarianceIsTwoOrOneAndNeighboursAreNotCorrelated) {
  constexpr size_t kCount = 1'000'000;
  for (Noise noise : {Noise::kLaplace, Noise::kGaussian}) {
    const std::vector<double> numbers = draws(noise, kCount, 5);
    const double expected = noise == Noise::kLaplace ? 2 : 1;
    double squares = 0, products = 0;
    for (size_t k = 0; k < kCount; ++k) {
      squares += numbers[k] * numbers[k];
      if (k > 0) products += numbers[k] * numbers[k - 1];
    }
    EXPECT_NEAR(squares / kCount, expected,
                5 * std::sqrt((noise == Noise::kLaplace ? 20 : 2) / double(kCount)));
    EXPECT_LT(std::fabs(products / squares), 5 / std::sqrt(double(kCount)));
  }
}

// S5 of docs/checks.md, for the engine's own turns.
TEST(MonteCarloDraws, TurnsAreUniform) {
  const CounterDraws counter(7, Noise::kLaplace);
  std::vector<uint64_t> counts(86);
  for (uint64_t round = 0; round < 100'000; ++round)
    ++counts[static_cast<size_t>(86 * counter.turn(0, 2, round))];
  EXPECT_GT(test::chi_square_p_value(counts, std::vector<double>(86, 1e5 / 86)), 1e-6);
}

}  // namespace draws_test
}  // namespace parley::sim::monte_carlo
