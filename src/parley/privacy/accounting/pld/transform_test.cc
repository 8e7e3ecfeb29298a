#include "parley/privacy/accounting/pld/transform.h"

#include <gtest/gtest.h>

#include <cmath>

namespace parley::privacy {
namespace transform_test {

std::vector<double> some_values(size_t n, double seed) {
  std::vector<double> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = std::sin(seed * static_cast<double>(i * i + 1));
  return values;
}

double norm_of_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

TEST(Transform, MultipliesPolynomialsWithASignWhereTheyWrap) {
  for (size_t n : {16u, 32u, 64u, 512u}) {  // both kinds of butterflies
    const auto a = some_values(n, 1), b = some_values(n, 3);
    std::vector<double> expected(n);
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j) expected[(i + j) % n] += (i + j >= n ? -1 : 1) * a[i] * b[j];
    std::vector<double> product = a, other = b;
    transform_of(n).forward(product);
    transform_of(n).forward(other);
    for (size_t k = 0, half = n / 2; k < half; ++k) {
      const double re = product[k] * other[k] - product[k + half] * other[k + half];
      product[k + half] = product[k] * other[k + half] + product[k + half] * other[k];
      product[k] = re;
    }
    transform_of(n).inverse(product);
    EXPECT_LT(norm_of_difference(product, expected), 1e-12 * double(n));
  }
}

// The bound that is added to delta: there and back is two transforms. That it can fail: the error
// is not zero either.
TEST(Transform, ErrsLessThanItsBound) {
  const size_t n = 1 << 18;
  const auto values = some_values(n, .7);
  auto back = values;
  transform_of(n).forward(back);
  transform_of(n).inverse(back);
  const double norm = norm_of_difference(values, std::vector<double>(n));
  EXPECT_LT(norm_of_difference(back, values), 2 * transform_error(n) * norm);
  EXPECT_GT(norm_of_difference(back, values), 1e-3 * transform_error(n) * norm);
}

}  // namespace transform_test
}  // namespace parley::privacy
