#include "parley/learn/data/sparse_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace parley::learn {
namespace {

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

}  // namespace
}  // namespace parley::learn
