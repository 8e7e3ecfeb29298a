#include "parley/learn/vertical/joint_moments.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/entropy.h"

namespace parley::learn {
namespace joint_moments_test {

/// Columns by party, the label last of its holder's: the release of their products, exact.
std::vector<int64_t> released(const std::vector<std::vector<std::vector<int64_t>>>& columns,
                              const MomentsLayout& layout) {
  const auto dot = [](const auto& a, const auto& b) {
    int64_t sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  std::vector<int64_t> all;
  for (size_t m = 0; m < columns.size(); ++m) {
    for (size_t j = 0; j < layout.columns(m); ++j)
      for (size_t k = j; k < layout.columns(m); ++k)
        all.push_back(dot(columns[m][j], columns[m][k]));
    for (size_t j = 0; layout.width(m) > layout.columns(m) && j < layout.columns(m); ++j)
      all.push_back(dot(columns[m][j], columns[m].back()));
    for (size_t k = m + 1; k < columns.size(); ++k)
      for (const auto& one : columns[m])
        for (const auto& other : columns[k]) all.push_back(dot(one, other));
  }
  return all;
}

TEST(JointMoments, LieInOneTriangleWhoeverHoldsTheLabel) {
  test::SeededEntropy entropy(1, "moments");
  const std::vector<size_t> widths = {2, 3, 1};
  constexpr size_t kRecords = 5;
  constexpr int kBits = 4;
  for (const size_t holder : {size_t{0}, size_t{1}, size_t{2}}) {
    const MomentsLayout layout(widths, holder);
    std::vector<std::vector<std::vector<int64_t>>> columns(3);
    std::vector<std::vector<int64_t>> features;
    std::vector<int64_t> label;
    for (size_t m = 0; m < 3; ++m)
      for (size_t j = 0; j < layout.width(m); ++j) {
        std::vector<int64_t> column;
        for (size_t i = 0; i < kRecords; ++i) column.push_back(int64_t(entropy.word() % 31) - 15);
        columns[m].push_back(column);
        (j < widths[m] ? features.emplace_back() : label) = column;
      }
    const auto numbers = released(columns, layout);
    ASSERT_EQ(numbers.size(), layout.size());
    const auto moments = layout.moments(numbers, kBits, kRecords);
    ASSERT_EQ(moments.size(), 6u * 9 / 2);
    features.push_back(label);
    size_t next = 0;
    const auto look = [&](size_t j, size_t k) {
      double sum = 0;
      for (size_t i = 0; i < kRecords; ++i) sum += double(features[j][i] * features[k][i]);
      EXPECT_DOUBLE_EQ(moments[next++], sum / 256 / kRecords) << holder << " " << j << " " << k;
    };
    for (size_t j = 0; j < 6; ++j)
      for (size_t k = j; k < 6; ++k) look(j, k);
    for (size_t j = 0; j < 6; ++j) look(j, 6);
  }
}

/// What two records' moments differ by, entries off the diagonal and with the label times the root
/// of two: never more than the bound, and nearly as much for the worst.
TEST(JointMoments, NeighboursStayWithinTheBound) {
  test::SeededEntropy entropy(2, "records");
  const auto uniform = [&] { return double(entropy.word() >> 11) * 0x1p-53 * 2 - 1; };
  for (const double scale : {.5, 1., 2.}) {
    const JointPlan plan{.row_norms = {.6 * scale, .8 * scale}, .balls = {1, 1}, .bits = 0};
    const double bound = scale <= 1 ? std::sqrt(8.) * scale : std::sqrt(2.) * (scale * scale + 1);
    EXPECT_LE(bound, moments_sensitivity(plan));
    double worst = 0;
    for (int trial = 0; trial < 20000; ++trial) {
      double z[2][4], y[2];
      for (int r = 0; r < 2; ++r) {
        for (size_t m = 0; m < 2; ++m) {
          const double a = uniform(), b = uniform(), norm = std::hypot(a, b);
          z[r][2 * m] = plan.row_norms[m] * a / norm;
          z[r][2 * m + 1] = plan.row_norms[m] * b / norm;
        }
        y[r] = uniform() > 0 ? 1 : -1;
      }
      if (trial % 2)
        for (size_t j = 0; j < 4; ++j) z[1][j] = z[0][j];
      double squares = 0;
      for (size_t j = 0; j < 4; ++j) {
        squares += 2 * std::pow(z[0][j] * y[0] - z[1][j] * y[1], 2);
        for (size_t k = 0; k < 4; ++k)
          squares += std::pow(z[0][j] * z[0][k] - z[1][j] * z[1][k], 2);
      }
      worst = std::max(worst, std::sqrt(squares));
    }
    EXPECT_LE(worst, bound * (1 + 1e-12));
    EXPECT_GT(worst, .8 * bound);
  }
}

}  // namespace joint_moments_test
}  // namespace parley::learn
