#include "parley/learn/schedule/async_descent.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "parley/learn/objective.h"
#include "support/tiny.h"

namespace parley::learn {
namespace async_descent_test {

using test::tiny_noise, test::tiny_owner;

/// Owners of the golden vectors: n = (3, 2).
AsyncRule tiny_rule(double step, double l2, double box, uint64_t rounds) {
  AsyncRule rule{.step = step,
                 .l2 = l2,
                 .box = box,
                 .dimension = 2,
                 .rounds = rounds,
                 .output = AsyncOutput::kLast};
  rule.add(.6, 1), rule.add(.4, 1), rule.set_steps();
  return rule;
}

std::vector<double> gradient_at(int owner, std::span<const double> theta) {
  return mean_gradient(Squared{}, tiny_owner(owner), theta, ClipIn::kNone, 0);
}

void expect_near(std::span<const double> found, std::array<double, 2> expected) {
  for (size_t j = 0; j < 2; ++j) EXPECT_NEAR(found[j], expected[j], 1e-12);
}

// Golden G4: sigma = .02, rho = .1, T = 5, hence a = rho / (T^2 sigma) = .2; owners 1,2,2,1,2 come.
AsyncDescent golden4(bool noise) {
  AsyncDescent descent(tiny_rule(.1 / (25 * .02), .02, .5, 5));
  int k = 0;
  for (int owner : {1, 2, 2, 1, 2}) {
    ++k;
    const size_t place = static_cast<size_t>(owner - 1);
    std::vector<double> answer = gradient_at(owner, descent.middle(place));
    for (size_t j = 0; j < 2 && noise; ++j) answer[j] += tiny_noise(owner, k)[j];
    descent.step(place, answer);
  }
  return descent;
}

TEST(AsyncDescent, GoldenG4) {
  const AsyncDescent quiet = golden4(false);
  expect_near(quiet.theta(), {0.32962963956, 0.00311378994});
  expect_near(quiet.copy(0), {0.27906544, -0.19429794});
  expect_near(quiet.copy(1), {0.5, 0.03656577114});
  const AsyncDescent noisy = golden4(true);
  expect_near(noisy.theta(), {0.3378305302427, 0.016225521924});
  expect_near(noisy.copy(0), {0.279775424, -0.211602724});
  expect_near(noisy.copy(1), {0.5, 0.0404945967773});
}

// Theory (D8): the mean over who comes of what (5) and (7) move is one step of
// length a against the gradient of the fitness, for unequal clocks, too.
TEST(AsyncDescent, OnAverageTheTwoUpdatesAreOneGradientStep) {
  constexpr double kStep = .2, kL2 = .3;
  for (const auto& [first, second] : {std::pair(1., 1.), std::pair(3., .5)}) {
    AsyncRule rule{.step = kStep, .l2 = kL2, .box = 100, .dimension = 2, .rounds = 100};
    rule.add(.6, first), rule.add(.4, second), rule.set_steps();
    EXPECT_DOUBLE_EQ(rule.owners[0].step / rule.step, (first + second) / first) << "N if equal";
    AsyncDescent somewhere(rule);
    for (size_t owner : {0, 1, 1, 0})
      somewhere.step(owner, gradient_at(static_cast<int>(owner) + 1, somewhere.middle(owner)));
    std::array<double, 2> moved{}, gradient{};
    for (size_t owner : {0, 1}) {
      const double chance = (owner == 0 ? first : second) / (first + second);
      const auto point = somewhere.middle(owner);
      const auto answer = gradient_at(static_cast<int>(owner) + 1, point);
      AsyncDescent after = somewhere;
      after.step(owner, answer);
      for (size_t j = 0; j < 2; ++j) {
        moved[j] += chance * (after.copy(owner)[j] + after.theta()[j] - 2 * point[j]);
        // The owners' halves of l2 count alike, the learner's half as often as they come.
        const double halves = .5 * .5 + .5 * chance;
        gradient[j] += rule.owners[owner].weight * answer[j] + kL2 * halves * point[j];
      }
    }
    for (size_t j = 0; j < 2; ++j) EXPECT_NEAR(moved[j], -kStep * gradient[j], 1e-12);
  }
}

// Check (ii): one owner without noise is a linear recursion of two states.
TEST(AsyncDescent, OneOwnerIsATwoStateLinearRecursion) {
  constexpr double kStep = .3, kL2 = .1, kCurvature = 2, kTarget = .7;
  AsyncRule rule{.step = kStep,
                 .l2 = kL2,
                 .box = 100,
                 .dimension = 1,
                 .rounds = 50,
                 .output = AsyncOutput::kLast};
  rule.add(1, 1), rule.set_steps();
  AsyncDescent descent(rule);
  double learner = 0, copy = 0;
  while (!descent.finished()) {
    const double middle = descent.middle(0)[0];
    descent.step(0, std::array{kCurvature * (middle - kTarget)});
    const double mean = .5 * (learner + copy);
    copy = (1 - kStep * (kL2 / 2 + kCurvature)) * mean + kStep * kCurvature * kTarget;
    learner = (1 - kStep * kL2 / 2) * mean;
    EXPECT_NEAR(descent.theta()[0], learner, 1e-12);
    EXPECT_NEAR(descent.copy(0)[0], copy, 1e-12);
  }
}

TEST(AsyncDescent, OutputsAreTheLastPointTheTailAverageAndTheMeanOfCopies) {
  std::vector<std::vector<double>> points;
  const auto run = [&](AsyncOutput output) {
    AsyncRule rule = tiny_rule(.2, .02, .5, 5);
    rule.output = output;
    AsyncDescent descent(rule);
    points.clear();
    for (size_t owner : {0, 1, 1, 0, 1}) {
      descent.step(owner, gradient_at(static_cast<int>(owner) + 1, descent.middle(owner)));
      points.emplace_back(descent.theta().begin(), descent.theta().end());
    }
    return descent;
  };
  const auto last = run(AsyncOutput::kLast).output();
  EXPECT_EQ(last, points.back());
  const auto tail = run(AsyncOutput::kTail).output();
  const AsyncDescent copies = run(AsyncOutput::kCopies);
  for (size_t j = 0; j < 2; ++j) {
    EXPECT_NEAR(tail[j], (points[2][j] + points[3][j] + points[4][j]) / 3, 1e-15);
    EXPECT_NEAR(copies.output()[j], (copies.theta()[j] + copies.copy(0)[j] + copies.copy(1)[j]) / 3,
                1e-15);
  }
}

// 86 hospitals: with one owner six times as large as the mean, a = .25
// diverged.
TEST(AsyncDescent, TheStabilityRuleTellsWhatDivergesFromWhatDoesNot) {
  const auto reached = [](double step) {
    AsyncRule rule{.step = step, .l2 = 0, .box = 1e30, .dimension = 1, .rounds = 2000};
    for (int i = 0; i < 11; ++i) rule.add(i == 0 ? .6 : .04, 1);
    rule.set_steps();
    AsyncDescent descent(rule);
    for (size_t k = 0; !descent.finished(); ++k)
      descent.step(k % 11, std::array{2 * (descent.middle(k % 11)[0] - 1)});
    return std::pair(stability(rule, 2), std::fabs(descent.copy(0)[0]));
  };
  const auto [low, near] = reached(.09);
  const auto [high, far] = reached(.5);
  EXPECT_NEAR(low, 11 * .6 * .09 * 2, 1e-12);
  EXPECT_LT(low, 1.2);
  EXPECT_LT(near, 2);
  EXPECT_GT(high, 4);
  EXPECT_GT(far, 1e20);
}

TEST(AsyncDescent, CurvatureOfRowsIsWithinThatOfTheirBounds) {
  const data::Rows rows = tiny_owner(1);
  data::Schema schema;
  for (int j = 0; j < 2; ++j) schema.columns.push_back({.low = -1, .high = 2});
  const double exact = largest_curvature(Squared{}, rows);
  // z z' has the mean (1.3125, -.25; -.25, 2.25) / 3.
  const double centre = (1.3125 + 2.25) / 2, spread = (2.25 - 1.3125) / 2;
  EXPECT_NEAR(exact, 2 * (centre + std::hypot(spread, .25)) / 3, 1e-12);
  EXPECT_DOUBLE_EQ(largest_curvature(Squared{}, schema), 2 * (4 + 4));
  EXPECT_DOUBLE_EQ(largest_curvature(Logistic{}, schema), (4 + 4) / 4.);
  EXPECT_TRUE(std::isinf(largest_curvature(Hinge{}, rows)));
}

}  // namespace async_descent_test
}  // namespace parley::learn
