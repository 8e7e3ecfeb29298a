#include "parley/learn/objective.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "support/entropy.h"
#include "support/tiny.h"

namespace parley::learn {
namespace {

using test::SeededEntropy, test::tiny_owner, test::uniform;

void expect_near(const std::vector<double>& found, std::array<double, 2> golden) {
  ASSERT_EQ(found.size(), 2u);
  for (size_t j = 0; j < 2; ++j) EXPECT_NEAR(found[j], golden[j], 1e-12) << j;
}

constexpr std::array kTheta = {0.3, -0.2};

// G1, squared loss, printed to 13 digits.
TEST(MeanGradient, EqualsTheGoldenVectors) {
  const Rows one = tiny_owner(1), two = tiny_owner(2);
  expect_near(mean_gradient(one, kTheta, ClipIn::kNone, 0), {-0.2875, 0.3166666666667});
  expect_near(mean_gradient(two, kTheta, ClipIn::kNone, 0), {-1.35, -0.275});
  expect_near(mean_gradient(one, kTheta, ClipIn::kL1, 1), {-0.2333333333333, 0.1});
  expect_near(mean_gradient(two, kTheta, ClipIn::kL1, 1), {-0.8333333333333, -0.1666666666667});
  expect_near(mean_gradient(one, kTheta, ClipIn::kL2, 1), {-0.2475118750121, 0.1567141667151});
  expect_near(mean_gradient(two, kTheta, ClipIn::kL2, 1), {-0.9472135955, -0.22360679775});
}

Rows random_rows(size_t count, size_t columns, uint64_t seed) {
  SeededEntropy entropy(seed, "rows");
  Rows rows(columns);
  std::vector<double> z(columns);
  for (size_t i = 0; i < count; ++i) {
    double label = 0;
    for (double& value : z) label += value = 2 * uniform(entropy) - 1;
    rows.add(z, label + uniform(entropy) - .5);
  }
  return rows;
}

TEST(SquaredFitness, MatchesTheDefinitionAndItsGradientTheFiniteDifference) {
  const Rows rows = random_rows(3000, 5, 1);
  SquaredFitness fitness(5, 0.25);
  fitness.add(rows);
  std::vector<double> theta = {.3, -.2, .9, 0, -1};
  double direct = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    double score = 0;
    for (size_t j = 0; j < 5; ++j) score += theta[j] * rows.row(i)[j];
    direct += Squared{}.value(score, rows.label(i)) / double(rows.size());
  }
  for (double value : theta) direct += 0.125 * value * value;
  EXPECT_NEAR(fitness.at(theta), direct, 1e-12);
  const auto gradient = fitness.gradient(theta);
  for (size_t j = 0; j < 5; ++j) {
    auto up = theta, down = theta;
    up[j] += 1e-5, down[j] -= 1e-5;
    EXPECT_NEAR(gradient[j], (fitness.at(up) - fitness.at(down)) / 2e-5, 1e-9);
  }
}

TEST(SquaredFitness, PoolsOwners) {
  SquaredFitness pooled(2, 0), apart(2, 0);
  pooled.add(tiny_owner(1)), pooled.add(tiny_owner(2));
  Rows all(2);
  for (int owner : {1, 2})
    for (size_t i = 0; i < tiny_owner(owner).size(); ++i)
      all.add(tiny_owner(owner).row(i), tiny_owner(owner).label(i));
  apart.add(all);
  EXPECT_NEAR(pooled.at(kTheta), apart.at(kTheta), 1e-15);
  EXPECT_EQ(pooled.rows(), 5u);
}

// With a box that cuts, no point of the box, found by brute force, is better than the certificate
// says.
TEST(SquaredFitness, MinimumIsCertifiedWithAndWithoutAnActiveBox) {
  SquaredFitness fitness(2, 0.01);
  fitness.add(random_rows(500, 2, 2));
  for (double box : {0.3, 0.9, 10.0}) {
    const Optimum best = fitness.minimum(box);
    EXPECT_LT(best.relative_gap, 1e-10) << box;
    for (double a = -1; a <= 1; a += 0.05)
      for (double b = -1; b <= 1; b += 0.05)
        EXPECT_GE(fitness.at(std::array{a * box, b * box}) * (1 + best.relative_gap) + 1e-15,
                  best.fitness);
    for (double value : best.theta) EXPECT_LE(std::fabs(value), box);
  }
  EXPECT_EQ(fitness.minimum(10).solver, "cholesky");
}

TEST(SquaredFitness, MinimumSurvivesConstantAndRepeatedColumns) {
  SeededEntropy entropy(3, "rows");
  Rows rows(3);
  for (int i = 0; i < 100; ++i) {
    const double value = uniform(entropy);
    rows.add(std::array{value, value, 0.0}, 2 * value);
  }
  SquaredFitness fitness(3, 0);
  fitness.add(rows);
  const Optimum best = fitness.minimum(1.5);
  EXPECT_NEAR(best.fitness, 0, 1e-12);
  EXPECT_NEAR(best.theta[0] + best.theta[1], 2, 1e-6);
}

TEST(ClippedHessian, DropsTheRecordsAtTheirLimit) {
  const Rows rows = random_rows(2000, 3, 4);
  const std::vector<double> theta(3, 0.5);
  const auto whole = clipped_hessian(rows, theta, ClipIn::kNone, 0, 0.1);
  const auto clipped = clipped_hessian(rows, theta, ClipIn::kL1, 1.0, 0.1);
  for (size_t j = 0; j < 3; ++j) {
    for (size_t k = 0; k < 3; ++k) EXPECT_EQ(clipped[j * 3 + k], clipped[k * 3 + j]);
    EXPECT_LT(clipped[j * 4], whole[j * 4]);
    // The derivative of the clipped mean gradient, by finite differences; records cross their limit
    // inside the difference, hence the loose tolerance.
    auto up = theta, down = theta;
    up[j] += 1e-3, down[j] -= 1e-3;
    const double slope = (mean_gradient(rows, up, ClipIn::kL1, 1)[j] -
                          mean_gradient(rows, down, ClipIn::kL1, 1)[j]) /
                         2e-3;
    EXPECT_NEAR(clipped[j * 4], slope + 0.1, 0.01);
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

}  // namespace
}  // namespace parley::learn
