// Exact Poisson and Skellam noise: every value, every width, its moments.
#include "parley/privacy/poisson.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/entropy.h"
#include "support/statistics.h"

namespace parley::privacy {
namespace poisson_test {

constexpr int kDraws = 400'000;

template <class Sampler>
std::vector<int64_t> draws(const Sampler& sampler, const char* label, uint64_t index) {
  test::SeededEntropy entropy(21, label, index);
  std::vector<int64_t> values(kDraws);
  for (int64_t& value : values) value = sampler.sample(entropy);
  return values;
}

/// Cells are single values, or runs of `width`, as long as at least 20 draws are expected in each;
/// the two tails are cells as well.
template <class Pmf>
double p_value(const std::vector<int64_t>& values, int64_t first, int64_t last, int64_t width,
               const Pmf& pmf) {
  const double n = double(values.size());
  std::vector<double> expected;
  std::vector<int64_t> ends;  // A cell ends before.
  double cell = 0, total = 0;
  for (int64_t k = first; k <= last; ++k) {
    cell += pmf(k), total += pmf(k);
    if (cell * n < 20 || (k - first) % width != 0 || 1 - total < 20 / n) continue;
    expected.push_back(cell * n), ends.push_back(k + 1);
    cell = 0;
  }
  expected.push_back((1 - total + cell) * n);
  std::vector<uint64_t> observed(expected.size());
  for (int64_t value : values)
    ++observed[size_t(std::upper_bound(ends.begin(), ends.end(), value) - ends.begin())];
  return test::chi_square_p_value(observed, expected);
}

auto poisson_pmf(double mean) {
  return [mean](int64_t k) {
    const auto x = static_cast<long double>(k);
    return k < 0 ? 0.0 : double(std::exp(x * std::log((long double)mean) - mean - lgammal(x + 1)));
  };
}

// Each fails on correct code with probability 1e-6. Small means have every kind of value often: far
// tails on both sides, and zero.
TEST(Poisson, FollowsItsDistributionValueByValue) {
  for (uint64_t mean : {4, 5, 7, 8, 16, 50, 400, 10'000}) {
    const auto values = draws(Poisson(mean), "values", mean);
    const double m = double(mean), s = std::sqrt(m);
    const auto first = int64_t(std::max(0.0, m - 9 * s)), last = int64_t(m + 12 * s);
    EXPECT_GT(p_value(values, first, last, int64_t(s / 10) + 1, poisson_pmf(m)), 1e-6) << mean;
    EXPECT_LT(p_value(values, first, last, int64_t(s / 10) + 1, poisson_pmf(m + s / 50)), 1e-6)
        << "no power at " << mean;
  }
}

// Of a mean of 4, one draw in 55 is 0, and the proposal goes far beyond.
TEST(Poisson, IsNeverNegative) {
  for (uint64_t mean : {4, 6, 9})
    for (int64_t value : draws(Poisson(mean), "negative", mean)) ASSERT_GE(value, 0);
}

/// Of normal cells, with the first correction for skewness.
double normal_p_value(const std::vector<int64_t>& values, double mean, double sigma, double skew) {
  std::vector<double> expected;
  std::vector<uint64_t> observed(82);
  const auto below = [&](double x) {
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
    return std::erfc(-x / M_SQRT2) / 2 - skew / 6 * (x * x - 1) * density;
  };
  for (int i = 0; i <= 81; ++i) {
    const double low = i == 0 ? 0 : below((i - 41) / 13.0);
    const double high = i == 81 ? 1 : below((i - 40) / 13.0);
    expected.push_back((high - low) * double(values.size()));
  }
  for (int64_t value : values) {
    const double x = (double(value) - mean) / sigma;
    ++observed[size_t(std::clamp(std::floor(x * 13) + 41, 0.0, 81.0))];
  }
  return test::chi_square_p_value(observed, expected);
}

// 1e-6 each. From 2^30 on the lattice and all but the first correction are below 1e-5 of a cell.
TEST(Poisson, FollowsItsDistributionAtEveryWidth) {
  for (int bits : {30, 40, 58, 60}) {
    const auto values = draws(Poisson(uint64_t{1} << bits), "widths", uint64_t(bits));
    const double mean = std::ldexp(1, bits), sigma = std::sqrt(mean);
    EXPECT_GT(normal_p_value(values, mean, sigma, 1 / sigma), 1e-6) << bits;
    EXPECT_LT(normal_p_value(values, mean + sigma / 50, sigma, 1 / sigma), 1e-6) << "no power";
    EXPECT_LT(normal_p_value(values, mean, sigma * 1.02, 1 / sigma), 1e-6) << "no power";
  }
}

/// exp(-v) I_k(v) for k = 0 .. 2 reach, backwards from where it vanishes; the sum over all k is 1.
std::vector<double> skellam_pmf(double variance, size_t reach) {
  std::vector<long double> f(2 * reach + 2);
  f[2 * reach] = 1e-4000L;
  for (size_t k = 2 * reach; k > 0; --k)
    f[k - 1] = f[k + 1] + 2 * (long double)k / (long double)variance * f[k];
  long double total = f[0];
  for (size_t k = 1; k < f.size(); ++k) total += 2 * f[k];
  std::vector<double> pmf;
  for (long double each : f) pmf.push_back(double(each / total));
  return pmf;
}

TEST(Skellam, FollowsItsDistributionValueByValue) {
  for (uint64_t variance : {8, 16, 100, 2'500}) {
    const auto values = draws(SkellamNoise(variance), "skellam", variance);
    const double s = std::sqrt(double(variance));
    const auto reach = int64_t(10 * s) + 12;
    const auto exact = [&](double v) {
      return [pmf = skellam_pmf(v, size_t(reach))](int64_t k) { return pmf[size_t(std::abs(k))]; };
    };
    const auto width = int64_t(s / 10) + 1;
    EXPECT_GT(p_value(values, -reach, reach, width, exact(double(variance))), 1e-6) << variance;
    EXPECT_LT(p_value(values, -reach, reach, width, exact(double(variance) * 1.03)), 1e-6)
        << "no power at " << variance;
  }
}

// 400,000 draws, within 6 standard errors: 2e-9 each. The kurtosis is 3 + 1/v.
TEST(Skellam, HasMeanZeroAndItsVariance) {
  for (uint64_t variance : {uint64_t{16}, uint64_t{1} << 40, uint64_t{1} << 61}) {
    const double v = double(variance);
    double sum = 0, squares = 0;
    for (int64_t value : draws(SkellamNoise(variance), "moments", variance)) {
      sum += double(value) / std::sqrt(v);
      squares += double(value) / v * double(value);
    }
    EXPECT_LT(std::fabs(sum) / std::sqrt(kDraws), 6) << variance;
    EXPECT_LT(std::fabs(squares - kDraws) / std::sqrt((2 + 1 / v) * kDraws), 6) << variance;
  }
}

TEST(Poisson, RefusesWhatItCannotDraw) {
  EXPECT_DEATH(Poisson(3), "check failed");
  EXPECT_DEATH(Poisson(Poisson::kMeanMax + 1), "check failed");
  EXPECT_DEATH(SkellamNoise(17), "check failed");
}

}  // namespace poisson_test
}  // namespace parley::privacy
