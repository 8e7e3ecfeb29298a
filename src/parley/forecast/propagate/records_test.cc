#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "parley/base/math/seeded_random.h"
#include "parley/forecast/propagate/propagation.h"

namespace parley::forecast {
namespace block_products_test {

constexpr size_t kRows = 23;

size_t stride_of(size_t columns) { return (columns + kTogether - 1) / kTogether * kTogether; }

std::vector<float> some_rows(size_t columns) {
  SeededRandom random(1, columns);
  std::vector<float> rows(kRows * stride_of(columns));
  for (size_t i = 0; i < kRows; ++i)
    for (size_t j = 0; j < columns; ++j)
      rows[i * stride_of(columns) + j] = static_cast<float>(random.normal());
  return rows;
}

TEST(BlockProducts, QuadraticFormsAreThoseOfTheUpperTriangle) {
  for (const size_t columns : {1, 7, 8, 30, 41}) {
    const size_t stride = stride_of(columns);
    const auto rows = some_rows(columns);
    SeededRandom random(2, columns);
    std::vector<float> upper(stride * stride), found(kRows);
    for (size_t j = 0; j < columns; ++j)
      for (size_t k = j; k < columns; ++k)
        upper[j * stride + k] = static_cast<float>(random.normal());
    quadratic_forms({rows.data(), kRows, stride}, upper.data(), found.data());
    for (size_t i = 0; i < kRows; ++i) {
      double expected = 0, size = 0;
      for (size_t j = 0; j < columns; ++j)
        for (size_t k = j; k < columns; ++k) {
          const double one =
              double(upper[j * stride + k]) * rows[i * stride + j] * rows[i * stride + k];
          expected += one, size += std::fabs(one);
        }
      EXPECT_NEAR(found[i], expected, 1e-6 * size);
    }
  }
}

TEST(BlockProducts, WeightedProductsAreAddedOnAndAboveTheDiagonal) {
  for (const size_t columns : {1, 7, 8, 30, 41}) {
    const size_t stride = stride_of(columns);
    const auto rows = some_rows(columns);
    std::vector<float> weights(kRows), sum(stride * stride, 1.F), scratch(rows.size());
    for (size_t i = 0; i < kRows; ++i) weights[i] = static_cast<float>(i % 5) / 2;
    add_weighted_products({rows.data(), kRows, stride}, weights.data(), scratch.data(), sum.data());
    for (size_t j = 0; j < columns; ++j)
      for (size_t k = j; k < columns; ++k) {
        double expected = 1, size = 1;
        for (size_t i = 0; i < kRows; ++i) {
          const double one = double(weights[i]) * rows[i * stride + j] * rows[i * stride + k];
          expected += one, size += std::fabs(one);
        }
        EXPECT_NEAR(sum[j * stride + k], expected, 1e-6 * size);
      }
  }
}

}  // namespace block_products_test
}  // namespace parley::forecast
