#include "parley/sim/standin/standin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "parley/base/bytes.h"
#include "parley/base/files.h"
#include "parley/data/readers/csv.h"
#include "parley/learn/fitness.h"
#include "parley/sim/standin/hospital.h"
#include "parley/sim/standin/stays.h"
#include "support/ledgers.h"

namespace parley::sim {
namespace standin_test {

Standin credit(uint64_t rows, bool raw = false, uint64_t seed = 1) {
  return *make_standin(
      {.name = "credit", .owners = {rows}, .pilot = 100, .seed = seed, .raw = raw});
}

struct Drawn {
  std::vector<std::vector<double>> z;
  std::vector<double> target;
};

Drawn drawn(const Standin& standin, uint64_t begin, uint64_t end) {
  Drawn rows;
  std::vector<double> values(standin.columns.size());
  double target = 0;
  for (uint64_t row = begin; row < end; ++row) {
    standin.draw(row, values, target);
    rows.z.push_back(values), rows.target.push_back(target);
  }
  return rows;
}

double quantile(std::vector<double> values, double part) {
  const auto at = values.begin() + std::ptrdiff_t(part * double(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

TEST(Credit, HasTheNormsAndTheSharesOfTheSpecification) {
  const uint64_t rows = 100'000;
  const Drawn made = drawn(credit(rows), 0, rows);
  std::vector<double> l1;
  for (const auto& z : made.z) {
    double sum = 1;  // the bias
    for (double value : z) sum += std::fabs(value);
    l1.push_back(sum);
  }
  EXPECT_NEAR(quantile(l1, .5), 21.7, .1);
  EXPECT_NEAR(quantile(l1, .99), 32.6, .4);
  EXPECT_NEAR(*std::max_element(l1.begin(), l1.end()), 122, 60);
  const double frauds = std::accumulate(made.target.begin(), made.target.end(), 0.);
  EXPECT_NEAR(frauds, 172, 6 * std::sqrt(172)) << "six deviations of a Poisson number";
}

// Genuine payments: mean 0, variance 1 after the published deviations; kurtosis 9 of t with 5
// degrees of freedom has no finite error, so only its size is looked at. Frauds: shifted.
TEST(Credit, ClassesHaveTheirMoments) {
  const uint64_t rows = 200'000;
  const Drawn made = drawn(credit(rows), 0, rows);
  double frauds = 0, shift = 0, genuine = 0, mean = 0, square = 0, amount = 0;
  for (size_t i = 0; i < rows; ++i) {
    if (made.target[i] == 1) {
      ++frauds, shift += made.z[i][16];  // V17: -7.68 / .85, times 1.1 on average
      continue;
    }
    ++genuine;
    mean += made.z[i][3], square += made.z[i][3] * made.z[i][3], amount += made.z[i][28];
  }
  EXPECT_NEAR(mean / genuine, 0, 6 / std::sqrt(genuine));
  EXPECT_NEAR(square / genuine, 1, .06);
  EXPECT_NEAR(shift / frauds, -7.68 / .85 * 1.1, 6 * 3 / std::sqrt(frauds));
  // exp(3.15 + 1.66^2/2) = 92.5, cut at 25691: mean 92, deviation about 330.
  EXPECT_NEAR(amount / genuine, (92 - 88.35) / 250.12, .03);
}

/// f of the hinge loss with lambda = 1 and a bias, and a subgradient.
double hinge(const Drawn& rows, const std::vector<double>& theta, std::vector<double>& slope) {
  slope = theta;
  double sum = 0;
  const double n = double(rows.z.size());
  const size_t p = theta.size();
  for (size_t i = 0; i < rows.z.size(); ++i) {
    const double y = rows.target[i] == 1 ? 1 : -1;
    double score = theta[p - 1];
    for (size_t j = 0; j + 1 < p; ++j) score += theta[j] * rows.z[i][j];
    if (y * score >= 1) continue;
    sum += 1 - y * score;
    for (size_t j = 0; j + 1 < p; ++j) slope[j] -= y * rows.z[i][j] / n;
    slope[p - 1] -= y / n;
  }
  double squares = 0;
  for (double value : theta) squares += value * value;
  return squares / 2 + sum / n;
}

// Strongly convex with constant 1: averaged subgradient steps 2/(k + 1) end within 2 G^2/(k + 1) of
// the optimum, G about 1 (Lacoste-Julien, Schmidt, Bach 2012).
TEST(Credit, HasTheOptimumOfTheSpecification) {
  const Drawn rows = drawn(credit(20'000), 0, 20'000);
  std::vector<double> theta(30), average(30), slope;
  for (int k = 1; k <= 1000; ++k) {
    hinge(rows, theta, slope);
    for (size_t j = 0; j < 30; ++j) {
      average[j] += (theta[j] - average[j]) * 2 / (k + 1);
      theta[j] -= 2. / (k + 1) * slope[j];
    }
  }
  const double best = hinge(rows, average, slope);
  EXPECT_NEAR(best, .503, .003);
  EXPECT_NEAR(average[29], -.985, .01);
  EXPECT_NEAR(hinge(rows, std::vector<double>(30), slope) / best - 1, .98, .02);
}

TEST(Hospital, SizesAreThoseOfTheSpecification) {
  const auto sizes = hospital_sizes();
  EXPECT_EQ(sizes.size(), 86u);
  const double total = double(std::accumulate(sizes.begin(), sizes.end(), uint64_t{0}));
  EXPECT_NEAR(total, 1'900'000, 86);
  EXPECT_GE(*std::min_element(sizes.begin(), sizes.end()), 10'000u);
  EXPECT_NEAR(double(*std::max_element(sizes.begin(), sizes.end())) / (total / 86), 2.5, .5);
  EXPECT_NE(sizes, hospital_sizes(86, 1'900'000, 2));
}

/// Owners' rows as the charter of the stand-in reads them: scale 2.5.
data::Rows rows_of(const Standin& standin, uint64_t begin, uint64_t end) {
  data::Rows rows(10);
  std::vector<double> z(10);
  double target = 0;
  for (uint64_t row = begin; row < end; ++row) {
    standin.draw(row, z, target);
    rows.add(z, target / 2.5);
  }
  return rows;
}

/// How far each hospital's own optimum is from the best for all, relative to it.
struct Alone {
  std::vector<double> ordinary{}, special{};
};

// At a tenth of the size; sampling errors of the optima add about 10/2000 to psi.
Alone hospitals_alone(uint64_t seed) {
  const StandinOptions options{
      .name = "hospital", .owners = hospital_sizes(86, 190'000), .pilot = 100, .seed = seed};
  const Standin standin = *make_standin(options);
  learn::Fitness pooled(learn::Squared{}, 10, 0);
  std::vector<std::vector<double>> alone;
  uint64_t begin = 0;
  for (uint64_t size : options.owners) {
    const data::Rows rows = rows_of(standin, begin, begin + size);
    learn::Fitness own(learn::Squared{}, 10, 0);
    own.add(rows), pooled.add(rows);
    alone.push_back(own.minimum(10).theta);
    begin += size;
  }
  const double best = pooled.minimum(10).fitness;
  const auto special = special_hospitals(options);
  Alone result;
  for (size_t i = 0; i < alone.size(); ++i)
    (special[i] ? result.special : result.ordinary).push_back(pooled.at(alone[i]) / best - 1);
  return result;
}

TEST(Hospital, HospitalsAloneAreAsFarFromTheBestAsTheSpecificationSays) {
  const Alone alone = hospitals_alone(1);
  EXPECT_EQ(alone.special.size(), 8u);
  std::vector<double> all = alone.ordinary;
  all.insert(all.end(), alone.special.begin(), alone.special.end());
  EXPECT_NEAR(quantile(all, .5), .036, .006);
  EXPECT_NEAR(quantile(alone.ordinary, .9), .079, .03);
  EXPECT_LT(*std::max_element(alone.ordinary.begin(), alone.ordinary.end()), .2);
}

// How far eight special hospitals are is a matter of luck: each is about a chi-square variable with
// ten degrees. The reference's .56 to 1.08 is one draw; 40 seeds of its own recipe give .15 to
// .57 for the nearest, .83 to 1.83 for the farthest, and a mean of .733 (of one seed +- .111).
TEST(Hospital, SpecialHospitalsAreFarAsOftenAsTheRecipeSays) {
  constexpr int kSeeds = 8;
  double sum = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Alone alone = hospitals_alone(seed);
    const auto [near, far] = std::minmax_element(alone.special.begin(), alone.special.end());
    EXPECT_GT(*near, .1) << seed;
    EXPECT_LT(*near, .65) << seed;
    EXPECT_GT(*far, .75) << seed;
    EXPECT_LT(*far, 2.1) << seed;
    sum += std::accumulate(alone.special.begin(), alone.special.end(), 0.) / 8;
  }
  EXPECT_NEAR(sum / kSeeds, .733, .12);
}

TEST(Standins, DependOnNothingButTheRowNumber) {
  for (std::string_view name : kStandins) {
    const StandinOptions options{.name = std::string(name), .owners = {700, 800}, .pilot = 500};
    const Standin standin = *make_standin(options), again = *make_standin(options);
    const Drawn whole = drawn(standin, 0, 2000);
    Drawn half;
    std::thread other([&] { half = drawn(again, 1000, 2000); });
    other.join();
    EXPECT_TRUE(std::equal(half.z.begin(), half.z.end(), whole.z.begin() + 1000));
    EXPECT_TRUE(std::equal(half.target.begin(), half.target.end(), whole.target.begin() + 1000));
    StandinOptions changed = options;
    changed.seed = 2;
    EXPECT_NE(drawn(*make_standin(changed), 0, 100).z, drawn(standin, 0, 100).z);
  }
  EXPECT_FALSE(make_standin({.name = "moon", .owners = {10}}));
  EXPECT_FALSE(make_standin({.name = "credit", .owners = {10}, .pilot = 3}));
  EXPECT_FALSE(
      make_standin({.name = "hospital", .owners = {uint64_t{1} << 63, uint64_t{1} << 63}}));
}

TEST(Standins, AreTheSameOnEveryMachine) {
  const auto file = test::fresh_folder() / "rows.csv";
  const auto hash = [&](const StandinOptions& options) {
    EXPECT_TRUE(write_csv(*make_standin(options), 0, 3000, file));
    return to_hex(*hash_file(file));
  };
  const std::vector<uint64_t> owners = {900, 1100};
  EXPECT_EQ(hash({.name = "credit", .owners = owners, .pilot = 1000, .seed = 7}),
            "5d444a1747fb62d83cf10e026e76823552a34accb243929ad4c94d0084dd337c");
  EXPECT_EQ(hash({.name = "credit", .owners = owners, .pilot = 1000, .seed = 7, .raw = true}),
            "e4f4d10066f74ec944a383601e92ccc358758a251db02c3dc6de8acf7e2fab48");
  EXPECT_EQ(hash({.name = "hospital", .owners = owners, .pilot = 1000, .seed = 7}),
            "66bc2d3fa755baba360b4ad85969e6fd3777e29870b7af9d805426324c76d234");
  EXPECT_EQ(hash({.name = "stays", .owners = owners, .pilot = 1000, .seed = 7}),
            "81584e8a9a41418da8a26753720218b54e81451098e0833192831fa8d869a64c");
}

/// Of the rows [begin, end).
double share_of_ones(const Standin& standin, uint64_t begin, uint64_t end) {
  const Drawn made = drawn(standin, begin, end);
  return std::accumulate(made.target.begin(), made.target.end(), 0.) / double(end - begin);
}

TEST(Stays, HospitalsAreSmallAndUnlikeAndTheirNewPatientsAreTheirs) {
  const auto sizes = stays_sizes(2000, 3);
  EXPECT_GE(*std::min_element(sizes.begin(), sizes.end()), 80u);
  EXPECT_LT(*std::max_element(sizes.begin(), sizes.end()), 320u);
  EXPECT_NEAR(quantile({sizes.begin(), sizes.end()}, .5), 160, 8) << "uniform in the logarithm";

  const uint64_t rows = 20'000;
  const Standin standin =
      *make_standin({.name = "stays", .owners = {rows, rows, rows}, .pilot = 800, .fresh = rows});
  EXPECT_EQ(standin.rows, 6 * rows + 800);
  const double error = std::sqrt(.5 / double(rows));  // of a difference of two shares, at most
  double apart = 0;
  for (uint64_t i = 0; i < 3; ++i) {
    const double own = share_of_ones(standin, i * rows, (i + 1) * rows);
    const double fresh = share_of_ones(standin, (3 + i) * rows + 800, (4 + i) * rows + 800);
    EXPECT_NEAR(own, fresh, 5 * error) << "hospital " << i;
    apart = std::max(apart, std::fabs(own - share_of_ones(standin, 0, rows)));
  }
  EXPECT_GT(apart, 10 * error) << "hospitals differ";
}

}  // namespace standin_test
}  // namespace parley::sim
