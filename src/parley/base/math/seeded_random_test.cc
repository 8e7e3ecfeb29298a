#include "parley/base/math/seeded_random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace parley {
namespace seeded_random_test {

TEST(SeededRandom, IsPhilox) {
  SeededRandom zero(0, 0);  // The authors' known answer, "philox2x64 10" with all zeros.
  EXPECT_EQ(zero.word(), 0xca00a0459843d731);
  EXPECT_EQ(zero.word(), 0x66c24222c9a845b5);
  // A second implementation, checked with all of the authors' answers, gave these.
  SeededRandom other(1, 2);
  for (uint64_t word :
       {0x9b83f03292d9f3e3, 0x892edcacbdafe976, 0xc35a2787d2b634aa, 0xb60c8d3627124d62})
    EXPECT_EQ(other.word(), word);
}

/// Largest distance of the empirical distribution of `sample` to `cdf`.
template <class Cdf>
double distance(std::vector<double> sample, const Cdf& cdf) {
  std::sort(sample.begin(), sample.end());
  const double n = static_cast<double>(sample.size());
  double worst = 0;
  for (size_t i = 0; i < sample.size(); ++i)
    worst = std::max({worst, cdf(sample[i]) - double(i) / n, double(i + 1) / n - cdf(sample[i])});
  return worst;
}

// For a seed picked at random these bounds fail with probability 1e-9 each (Dvoretzky-Kiefer-
// Wolfowitz, Massart); the seed is fixed.
TEST(SeededRandom, NumbersHaveTheirDistributions) {
  const size_t n = 200'000;
  const double threshold = std::sqrt(std::log(2 / 1e-9) / (2.0 * n));
  std::vector<double> uniform(n), normal(n), by_stream(n);
  SeededRandom random(5, 0);
  for (double& x : uniform) x = random.uniform();
  for (double& x : normal) x = random.normal();
  for (size_t i = 0; i < n; ++i) by_stream[i] = SeededRandom(5, i).normal();
  const auto gauss = [](double x) { return std::erfc(-x / std::sqrt(2.)) / 2; };
  EXPECT_LT(distance(uniform, [](double x) { return x; }), threshold);
  EXPECT_LT(distance(normal, gauss), threshold);
  EXPECT_LT(distance(by_stream, gauss), threshold);
  EXPECT_GT(distance(normal, [&](double x) { return gauss(x / 1.05); }), threshold) << "no power";
  EXPECT_GT(*std::min_element(uniform.begin(), uniform.end()), 0);
  EXPECT_LT(*std::max_element(uniform.begin(), uniform.end()), 1);
}

TEST(SeededRandom, CountsHaveTheirShares) {
  const int n = 100'000;
  SeededRandom random(6, 0);
  std::vector<double> poisson(40), index(14), choice(3);
  for (int i = 0; i < n; ++i) {
    poisson[std::min(random.poisson(2.5), 39)] += 1. / n;
    index[random.index(14)] += 1. / n;
    choice[random.choice(std::vector{.5, .4, .1})] += 1. / n;
  }
  // Six standard deviations of a share are at most 3 / sqrt(n): probability below 1e-8 each.
  const double six = 3 / std::sqrt(double(n));
  double mass = std::exp(-2.5);
  for (int k = 0; k < 12; mass *= 2.5 / ++k) EXPECT_NEAR(poisson[k], mass, six) << k;
  for (double share : index) EXPECT_NEAR(share, 1 / 14., six);
  const double shares[] = {.5, .4, .1};
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(choice[k], shares[k], six);
  EXPECT_GT(std::fabs(poisson[0] - std::exp(-2.3)), six) << "the test has lost its power";
}

// Covariances of 0 have standard deviation 1/sqrt(n); six of them are 1e-9 likely.
TEST(SeededRandom, NeighbouringStreamsAndSeedsAreUncorrelated) {
  const int n = 100'000;
  double streams = 0, seeds = 0, lag = 0;
  for (int i = 0; i < n; ++i) {
    SeededRandom here(1, i), next(1, i + 1), other(2, i);
    const double x = here.normal();
    streams += x * next.normal() / n;
    seeds += x * other.normal() / n;
    lag += x * here.normal() / n;
  }
  for (double covariance : {streams, seeds, lag})
    EXPECT_LT(std::fabs(covariance), 6 / std::sqrt(double(n)));
}

}  // namespace seeded_random_test
}  // namespace parley
