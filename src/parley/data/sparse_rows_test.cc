#include "parley/data/sparse_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace parley::data {
namespace sparse_rows_test {

TEST(SparseRows, AreTheSameAsDenseRowsOfTheSameRecords) {
  constexpr double kOdd[] = {
      0,   -0.0,     1e-200,   -1e-151,  1e141, std::numeric_limits<double>::infinity(),
      NAN, 0x1p-500, kLargest, -kLargest};
  std::mt19937_64 random(1);
  const size_t columns = 37;
  Rows dense(columns);
  SparseRows sparse(columns);
  for (int run = 0; run < 2000; ++run) {
    std::vector<double> z(columns);
    std::vector<uint32_t> at;
    std::vector<double> values;
    for (uint32_t j = 0; j < columns; ++j) {
      if (random() % 4 != 0) continue;
      z[j] = random() % 40 == 0 ? kOdd[random() % std::size(kOdd)] : double(random() % 1000) - 500;
      at.push_back(j), values.push_back(z[j]);
    }
    const double y = random() % 50 == 0 ? kOdd[random() % std::size(kOdd)] : double(random() % 7);
    dense.add(z, y);
    sparse.add(at, values, y);
  }
  const Rows back = sparse.dense();
  ASSERT_EQ(back.size(), dense.size());
  for (size_t i = 0; i < dense.size(); ++i) {
    EXPECT_EQ(back.label(i), dense.label(i)) << i;
    for (size_t j = 0; j < columns; ++j)
      ASSERT_EQ(back.row(i)[j], dense.row(i)[j]) << i << " " << j;
    for (double value : sparse.row_values(i)) EXPECT_GE(std::fabs(value), kSmallest);
  }
}

TEST(SparseRows, OfOnesTakeFourBytesForEach) {
  SparseRows rows(1000);
  std::vector<uint32_t> at;
  for (uint32_t i = 0; i < 1000; ++i) {
    at.push_back(i);
    rows.add(at, std::vector<double>(at.size(), 1), i);
  }
  EXPECT_TRUE(rows.all_ones());
  EXPECT_EQ(rows.nonzeros(), 500500u);
  EXPECT_EQ(rows.bytes(), 500500u * 4 + 1000 * 8 + 2 * 1001 * 8);
  for (size_t i = 0; i < rows.size(); ++i)
    ASSERT_EQ(std::vector<double>(rows.row_values(i).begin(), rows.row_values(i).end()),
              std::vector<double>(i + 1, 1));
}

TEST(SparseRows, OfOnesAmongOthersHoldWhatTheyWereGiven) {
  SparseRows rows(4);
  using At = std::vector<uint32_t>;
  using Values = std::vector<double>;
  rows.add(At{0, 2}, Values{1, 1}, 1);
  rows.add(At{0, 1, 3}, Values{1, 0, 1}, 2);  // Zeros are not kept: still ones.
  rows.add_zero();
  const size_t before = rows.bytes();
  rows.add(At{1, 3}, Values{1, -2.5}, 3);
  EXPECT_EQ(rows.bytes() - before, 2 * (8 + 4) + 3 * 8u);  // It costs the others nothing.
  rows.add(At{0, 1, 2}, Values{1, 1, 1}, 4);
  const Values expected[] = {{1, 1}, {1, 1}, {}, {1, -2.5}, {1, 1, 1}};
  const At columns[] = {{0, 2}, {0, 3}, {}, {1, 3}, {0, 1, 2}};
  ASSERT_EQ(rows.size(), std::size(expected));
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(Values(rows.row_values(i).begin(), rows.row_values(i).end()), expected[i]) << i;
    EXPECT_EQ(At(rows.row_indices(i).begin(), rows.row_indices(i).end()), columns[i]) << i;
  }
}

}  // namespace sparse_rows_test
}  // namespace parley::data
