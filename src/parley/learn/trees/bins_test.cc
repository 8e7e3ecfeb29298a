#include "parley/learn/trees/bins.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "parley/base/math/seeded_random.h"
#include "parley/learn/trees/histogram.h"

namespace parley::learn {
namespace bins_test {

std::vector<double> edges_of(const std::vector<double>& values) { return *bin_edges(values); }

TEST(Bins, FewValuesAreBinsOfTheirOwn) {
  EXPECT_EQ(edges_of({3, 1, 1, 2, 3}), (std::vector{1.5, 2.5}));
  EXPECT_EQ(edges_of({0, 1, 0}), (std::vector{.5}));
  EXPECT_TRUE(edges_of({7, 7}).empty());
  const double above = std::nextafter(1, 2);
  EXPECT_EQ(edges_of({1, above}), (std::vector{1.0})) << "nothing lies between the two";
  EXPECT_EQ(edges_of({-1e140, 1e140}), (std::vector{0.0}));
  std::vector<double> values;
  for (int k = 0; k < 255; ++k) values.push_back(k);
  EXPECT_EQ(edges_of(values).size(), 254u);
}

TEST(Bins, ManyValuesShareThemEqually) {
  for (const size_t rows : {256, 1000, 20'000, 70'000}) {
    data::Rows table(1);
    SeededRandom random(3, 0);
    for (size_t i = 0; i < rows; ++i) table.add(std::vector{std::exp(random.normal())}, 0);
    const Bins bins = *bins_of(table, 1);
    ASSERT_EQ(bins.bins(0), 255u);
    std::vector<double> count(255);
    for (const uint8_t bin : bins.column(0)) ++count[bin];
    const double each = double(rows) / 255;
    for (const double rows_in_bin : count) {
      EXPECT_GE(rows_in_bin, std::min(1.0, each)) << rows;
      EXPECT_LT(std::fabs(rows_in_bin - each), rows > 20'000 ? .6 * each : 1.5) << rows;
    }
  }
}

TEST(Bins, AFrequentValueLeavesTheOtherBinsToTheOthers) {
  std::vector<double> values(50'000, 0.0);
  for (int k = 1; k <= 50'000; ++k) values.push_back(k);
  const std::vector<double> edges = edges_of(values);
  EXPECT_EQ(edges.size(), 254u);
  EXPECT_GT(edges[0], 0);
  EXPECT_LT(edges[0], 10);
}

TEST(Bins, AnIndexSaysOnWhichSideOfEveryEdgeANumberLies) {
  data::Rows rows(11);
  SeededRandom random(1, 0);
  std::vector<double> z(11);
  for (int i = 0; i < 600; ++i) {
    for (size_t j = 0; j < 10; ++j) z[j] = j < 5 ? random.normal() : random.index(int(j) * 40);
    rows.add(z, 0);
  }
  for (const int threads : {1, 2, 5}) {
    const Bins bins = *bins_of(rows, threads);
    EXPECT_EQ(bins.bins(10), 1u) << "constant";
    for (size_t j = 0; j < 11; ++j)
      for (size_t i = 0; i < rows.size(); ++i)
        for (size_t k = 0; k < bins.edges[j].size(); ++k)
          ASSERT_EQ(bins.column(j)[i] <= k, rows.row(i)[j] <= bins.edges[j][k]);
  }
}

TEST(Bins, WhatIsNotFiniteIsRefused) {
  for (const double odd : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    const auto edges = bin_edges(std::vector{1.0, odd, 2.0});
    ASSERT_FALSE(edges);
    EXPECT_EQ(edges.error().what, "trees cannot be grown on a number that is not finite");
  }
  EXPECT_FALSE(bins_of(data::Rows(3), 1)) << "no rows";
}

TEST(Histogram, FixedPointIsAsFineAsItsSumsAllow) {
  std::vector<int64_t> fixed;
  const std::vector<double> values = {-.75, .3, 1e-12, .5};
  const double unit = to_fixed_point(values, fixed);
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(double(fixed[i]) * unit, values[i], unit / 2);
  EXPECT_EQ(unit, 0x1p-59) << "four numbers below 1 in 62 bits";
  to_fixed_point(std::vector{0.0, 0.0}, fixed);
  EXPECT_EQ(fixed, (std::vector<int64_t>{0, 0}));
  to_fixed_point(std::vector{1e-320}, fixed);
  EXPECT_EQ(fixed, (std::vector<int64_t>{0}));
}

TEST(Histogram, SumsDoNotDependOnThreadsAndChildrenAddUp) {
  data::Rows rows(40);
  SeededRandom random(1, 0);
  std::vector<double> z(40);
  Derivatives derivatives;
  std::vector<uint32_t> left, right, all;
  for (uint32_t i = 0; i < 9000; ++i) {
    for (double& value : z) value = random.normal();
    rows.add(z, 0);
    derivatives.slope.push_back(static_cast<int64_t>(random.word() >> 20));
    derivatives.curvature.push_back(static_cast<int64_t>(random.word() >> 20));
    all.push_back(i);
    (random.index(3) == 0 ? left : right).push_back(i);
  }
  const Bins bins = *bins_of(rows, 1);
  const auto histogram = [&](std::span<const uint32_t> some, int threads) {
    Histogram sums(bins);
    sums.add(bins, derivatives, some, threads);
    return sums;
  };
  const Histogram one = histogram(all, 1);
  Histogram difference = histogram(all, 3);
  difference -= histogram(left, 2);
  const Histogram other = histogram(right, 1), seven = histogram(all, 7);
  const Sum total = sum_of(derivatives, all);
  for (size_t j = 0; j < 40; ++j) {
    EXPECT_TRUE(std::ranges::equal(one.column(j), seven.column(j)));
    EXPECT_TRUE(std::ranges::equal(other.column(j), difference.column(j)));
    Sum sum;
    for (const Sum& bin : one.column(j)) sum += bin;
    EXPECT_EQ(sum, total);
  }
}

}  // namespace bins_test
}  // namespace parley::learn
