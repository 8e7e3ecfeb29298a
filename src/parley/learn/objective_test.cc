#include "parley/learn/objective.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "support/entropy.h"
#include "support/tiny.h"

namespace parley::learn {
namespace objective_test {

using test::SeededEntropy, test::tiny_classes, test::tiny_owner, test::uniform;

void expect_near(const std::vector<double>& found, std::array<double, 2> golden) {
  ASSERT_EQ(found.size(), 2u);
  for (size_t j = 0; j < 2; ++j) EXPECT_NEAR(found[j], golden[j], 1e-12) << j;
}

constexpr std::array kTheta = {0.3, -0.2};

// G1, printed to 13 digits.
TEST(MeanGradient, EqualsTheGoldenVectors) {
  const Losses squared = Squared{}, hinge = Hinge{}, logistic = Logistic{};
  const data::Rows one = tiny_owner(1), two = tiny_owner(2);
  expect_near(mean_gradient(squared, one, kTheta, ClipIn::kNone, 0), {-0.2875, 0.3166666666667});
  expect_near(mean_gradient(squared, two, kTheta, ClipIn::kNone, 0), {-1.35, -0.275});
  expect_near(mean_gradient(squared, one, kTheta, ClipIn::kL1, 1), {-0.2333333333333, 0.1});
  expect_near(mean_gradient(squared, two, kTheta, ClipIn::kL1, 1),
              {-0.8333333333333, -0.1666666666667});
  expect_near(mean_gradient(squared, one, kTheta, ClipIn::kL2, 1),
              {-0.2475118750121, 0.1567141667151});
  expect_near(mean_gradient(squared, two, kTheta, ClipIn::kL2, 1), {-0.9472135955, -0.22360679775});
  const data::Rows class_one = tiny_classes(1), class_two = tiny_classes(2);
  expect_near(mean_gradient(hinge, class_one, kTheta, ClipIn::kNone, 0), {-0.5833333333333, 0.5});
  expect_near(mean_gradient(hinge, class_two, kTheta, ClipIn::kNone, 0), {-1.5, -0.25});
  expect_near(mean_gradient(logistic, class_one, kTheta, ClipIn::kNone, 0),
              {-0.2549257391198, 0.2066598120869});
  expect_near(mean_gradient(logistic, class_two, kTheta, ClipIn::kNone, 0),
              {-0.579426695118, -0.1125415006719});
}

data::Rows random_rows(size_t count, size_t columns, uint64_t seed) {
  SeededEntropy entropy(seed, "rows");
  data::Rows rows(columns);
  std::vector<double> z(columns);
  for (size_t i = 0; i < count; ++i) {
    double label = 0;
    for (double& value : z) label += value = 2 * uniform(entropy) - 1;
    rows.add(z, label + uniform(entropy) - .5);
  }
  return rows;
}

TEST(ClippedHessian, DropsTheRecordsAtTheirLimit) {
  const data::Rows rows = random_rows(2000, 3, 4);
  const std::vector<double> theta(3, 0.5);
  const auto whole = clipped_hessian(Squared{}, rows, theta, ClipIn::kNone, 0, 0.1);
  const auto clipped = clipped_hessian(Squared{}, rows, theta, ClipIn::kL1, 1.0, 0.1);
  for (size_t j = 0; j < 3; ++j) {
    for (size_t k = 0; k < 3; ++k) EXPECT_EQ(clipped[j * 3 + k], clipped[k * 3 + j]);
    EXPECT_LT(clipped[j * 4], whole[j * 4]);
    // The derivative of the clipped mean gradient, by finite differences; records cross their limit
    // inside the difference, hence the loose tolerance.
    auto up = theta, down = theta;
    up[j] += 1e-3, down[j] -= 1e-3;
    const double slope = (mean_gradient(Squared{}, rows, up, ClipIn::kL1, 1)[j] -
                          mean_gradient(Squared{}, rows, down, ClipIn::kL1, 1)[j]) /
                         2e-3;
    EXPECT_NEAR(clipped[j * 4], slope + 0.1, 0.01);
  }
}

TEST(ClippedHessian, IsTheDerivativeOfTheMeanGradientOfASmoothLoss) {
  const data::Rows numbers = random_rows(500, 3, 5);
  data::Rows rows(3);
  for (size_t i = 0; i < numbers.size(); ++i) rows.add(numbers.row(i), i % 3 == 0 ? -1 : 1);
  const Losses loss = Logistic{{2, 1}};
  const std::vector<double> theta = {.5, -.2, .1};
  const auto hessian = clipped_hessian(loss, rows, theta, ClipIn::kNone, 0, 0.1);
  for (size_t j = 0; j < 3; ++j) {
    auto up = theta, down = theta;
    up[j] += 1e-5, down[j] -= 1e-5;
    const auto right = mean_gradient(loss, rows, up, ClipIn::kNone, 0);
    const auto left = mean_gradient(loss, rows, down, ClipIn::kNone, 0);
    for (size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(hessian[j * 3 + k], (right[k] - left[k]) / 2e-5 + (j == k ? .1 : 0), 1e-9);
  }
}

TEST(Inverse, InvertsAndRefusesWhatIsSingular) {
  const std::vector<double> matrix = {4, 1, 1, 3};
  const auto found = inverse(matrix, 2);
  ASSERT_TRUE(found);
  const double golden[] = {3 / 11.0, -1 / 11.0, -1 / 11.0, 4 / 11.0};
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR((*found)[i], golden[i], 1e-15);
  EXPECT_FALSE(inverse(std::vector<double>{1, 1, 1, 1}, 2));
  EXPECT_FALSE(inverse(std::vector<double>{-1, 0, 0, 1}, 2));
}

TEST(Inverse, WithAFloorInvertsWhatIsSingularToo) {
  const std::vector<double> matrix = {1, 1, 1, 1};  // 2 along (1, 1), 0 across
  const auto found = floored_inverse(matrix, 2, .5);
  const double golden[] = {.25 + 1, .25 - 1, .25 - 1, .25 + 1};
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(found[i], golden[i], 1e-14);
  EXPECT_NEAR(largest_eigenvalue(found, 2), 2, 1e-12);
}

}  // namespace objective_test
}  // namespace parley::learn
