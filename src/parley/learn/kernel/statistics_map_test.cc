#include "parley/learn/kernel/statistics_map.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "support/entropy.h"

namespace parley::learn {
namespace statistics_map_test {

using test::SeededEntropy, test::uniform;

template <class Norm>
StatisticsMap<Norm> some_map(double row, double label, size_t columns, double weight = 1) {
  return *StatisticsMap<Norm>::make(row, label, 24, columns, weight);
}

template <class Norm>
std::vector<int64_t> of_record(const StatisticsMap<Norm>& map, std::span<const double> z,
                               double y) {
  std::vector<int64_t> sum(map.size());
  StatisticsMap<Norm>(map).add(z, y, sum.data());
  return sum;
}

template <class Norm>
double distance(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  double sum = 0;
  for (size_t j = 0; j < a.size(); ++j) {
    const double gap = double(a[j] - b[j]);
    sum += std::is_same_v<Norm, L1> ? std::fabs(gap) : gap * gap;
  }
  return std::is_same_v<Norm, L1> ? sum : std::sqrt(sum);
}

TEST(StatisticsMap, HoldsTheTriangleAndTheLabelsOfARecord) {
  const double z[] = {.5, -.25, 0}, y = .75;
  const auto plain = some_map<L1>(2, 1, 3);
  const auto scaled = some_map<L2>(2, 1, 3);
  const double expected[] = {.25, -.125, 0, .0625, 0, 0, .375, -.1875, 0};
  const auto one = of_record(plain, z, y), two = of_record(scaled, z, y);
  for (size_t j = 0; j < 9; ++j) {
    const bool diagonal = j == 0 || j == 3 || j == 5;
    EXPECT_NEAR(double(one[j]) * plain.lattice().gamma(), expected[j], plain.lattice().gamma());
    EXPECT_NEAR(double(two[j]) * scaled.lattice().gamma(),
                expected[j] * (diagonal ? 1 : std::sqrt(2)), scaled.lattice().gamma());
  }
}

// A record that is too long counts as its short copy, label included; a label beyond its bound as
// it.
TEST(StatisticsMap, ShrinksLongRecordsWithTheirLabels) {
  const auto map = some_map<L1>(1, 1, 2);
  // 4 + 4 + 4 and twice 2 * .8 in size: 15.2, shrunk to 1.
  const double s = 1 / std::sqrt(15.2);
  const auto length = of_record(map, std::array{2.0, 2.0}, .8);
  const auto fits = of_record(map, std::array{2 * s, 2 * s}, .8 * s);
  for (size_t j = 0; j < fits.size(); ++j) EXPECT_NEAR(double(length[j]), double(fits[j]), 1);
  EXPECT_EQ(of_record(map, std::array{.3, .3}, 9), of_record(map, std::array{.3, .3}, 1));
  EXPECT_EQ(of_record(map, std::array{0.0, 0.0}, 1), std::vector<int64_t>(5));
}

// A weighted label is as a label that is larger, and so is its bound.
TEST(StatisticsMap, WeightsLabelsBesideFeatures) {
  const std::array z{.5, -.25};
  EXPECT_EQ(of_record(some_map<L1>(1, 1, 2, 4), z, .3), of_record(some_map<L1>(1, 4, 2), z, 1.2));
  EXPECT_EQ(of_record(some_map<L2>(1, 1, 2, 4), z, 7), of_record(some_map<L2>(1, 4, 2), z, 4));
  EXPECT_EQ(some_map<L2>(1, 1, 2, 4).sensitivity(), some_map<L2>(1, 4, 2).sensitivity());
}

// However many features, Laplace noise is for what a record's own numbers add up to.
TEST(StatisticsMap, ARecordThatFitsIsNotCutForWhatAnotherCouldDo) {
  const std::array z{1.0, -1.0, 1.0, -1.0};  // ten products and no label: 10 in size
  const auto map = some_map<L1>(std::sqrt(10.0), 1, 4);
  const auto sum = of_record(map, z, 0);
  EXPECT_NEAR(double(sum[0]) * map.lattice().gamma(), 1, 1e-6);
}

/// The largest distance found between two records, by random search over extreme ones.
template <class Norm>
void expect_tight(double row, double label, double least_part) {
  SeededEntropy entropy(3, "statistics");
  const size_t p = 3;
  const auto map = some_map<Norm>(row, label, p);
  double largest = 0;
  const auto record = [&] {
    std::vector<double> z(p);
    for (double& value : z)
      value = (uniform(entropy) < .4 ? 0 : 2 * uniform(entropy) - 1) * 3 * row;
    return of_record(map, z,
                     (uniform(entropy) < .5 ? -1 : 1) * label * (uniform(entropy) < .8 ? 1 : .5));
  };
  for (int i = 0; i < 200000; ++i) largest = std::max(largest, distance<Norm>(record(), record()));
  EXPECT_LE(largest, map.sensitivity());
  EXPECT_GE(largest, least_part * map.sensitivity()) << row << " " << label;
}

TEST(StatisticsMap, NoTwoRecordsAreFurtherApartThanTheSensitivity) {
  for (auto [row, label] : {std::pair{1.0, 1.0}, {3.0, 1.0}, {1.0, 3.0}, {.1, 20.0}}) {
    expect_tight<L2>(row, label, .95);
    expect_tight<L1>(row, label, .9);
  }
}

// Two records at right angles with the largest labels, and opposite ones: where the bounds are met.
TEST(StatisticsMap, TheSensitivityIsAttained) {
  const auto gap = [](double row, double label, std::array<double, 2> other, double y) {
    const auto map = some_map<L2>(row, label, 2);
    return distance<L2>(of_record(map, std::array{row, 0.0}, label), of_record(map, other, y)) /
           map.sensitivity();
  };
  EXPECT_GT(gap(1, 4, {-1, 0}, 4), .999999);
  const double turn = std::acos(-1 / 4.);  // z.z' = -Y^2 for R = 2, Y = 1
  EXPECT_GT(gap(2, 1, {2 * std::cos(turn), 2 * std::sin(turn)}, 1), .999999);
}

// Rule gram asks for products of features only, of rows by public bounds: numbers in [-1, 1], one
// level of a category, a bias. Of every pair of rows on a grid, shrunk or not, no Gram matrix is
// further from the other than sqrt(2) R^2, and noise is calibrated to hardly more.
TEST(StatisticsMap, NoTwoGramMatricesAreFurtherApartThanTheRootOfTwoTimesRSquared) {
  std::vector<std::vector<double>> rows;
  for (const double a : {-1., -.5, 0., .5, 1.})
    for (const double b : {-1., -.3, 0., 1.})
      for (const double level : {0., 1.}) rows.push_back({a, b, level, 1 - level, 1});
  for (const double row : {2., 1.5}) {  // The longest is sqrt(4).
    const auto map = some_map<L2>(row, 1e-12, 5);
    std::vector<std::vector<int64_t>> grams;
    for (const auto& z : rows) grams.push_back(of_record(map, z, 1));
    const double exact = std::sqrt(2) * row * row / map.lattice().gamma();
    const double rounding = std::sqrt(double(map.size()));
    double largest = 0;
    for (const auto& one : grams)
      for (const auto& other : grams) largest = std::max(largest, distance<L2>(one, other));
    EXPECT_LE(largest, exact + rounding);
    EXPECT_GT(largest, .6 * exact);
    EXPECT_LE(largest, map.sensitivity());
    EXPECT_LT(map.sensitivity(), exact * (1 + 1e-5));
    for (const auto& one : grams)
      for (size_t j = map.size() - 5; j < map.size(); ++j) EXPECT_EQ(one[j], 0) << "no labels";
  }
}

TEST(StatisticsMap, IsThePureFunctionOfARecordInEitherForm) {
  SeededEntropy entropy(4, "forms");
  const size_t p = 11;
  data::Rows dense(p);
  data::SparseRows sparse(p);
  for (int i = 0; i < 200; ++i) {
    std::vector<double> z(p), values;
    std::vector<uint32_t> at;
    for (uint32_t j = 0; j < p; ++j)
      if (uniform(entropy) < .3)
        z[j] = 4 * uniform(entropy) - 2, at.push_back(j), values.push_back(z[j]);
    const double y = uniform(entropy);
    dense.add(z, y), sparse.add(at, values, y);
  }
  const auto map = some_map<L2>(2, 1, p);
  const auto whole = statistics_sum(map, dense, 0, 200);
  EXPECT_EQ(whole, statistics_sum(map, sparse, 0, 200));
  auto parts = statistics_sum(map, dense, 0, 77);
  const auto rest = statistics_sum(map, dense, 77, 200);
  for (size_t j = 0; j < parts.size(); ++j) parts[j] += rest[j];
  EXPECT_EQ(whole, parts);
}

TEST(StatisticsMap, RefusesTooManyFeatures) {
  EXPECT_FALSE(StatisticsMap<L1>::make(1, 1, 24, 501));
  EXPECT_FALSE(StatisticsMap<L1>::make(1e13, 1, 24, 2));
}

}  // namespace statistics_map_test
}  // namespace parley::learn
