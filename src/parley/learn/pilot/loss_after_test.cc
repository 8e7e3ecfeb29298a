#include "parley/learn/pilot/loss_after.h"

#include <gtest/gtest.h>

#include <cmath>

#include "parley/base/math/seeded_random.h"

namespace parley::learn {
namespace loss_after_test {

const std::vector<double> kHessian = {.5, .1, .1, .3};
/// Its inverse.
const std::vector<double> kInverse = {.3 / .14, -.1 / .14, -.1 / .14, .5 / .14};
const std::vector<double> kStart = {0, 0};

TEST(LossAfter, OneNewtonStepLeavesItsNoise) {
  const auto one = pilot_newton(1, 1, Average::kNone, kStart, kInverse);
  // (sd^2/2) tr(H^-1)
  const double noise = .01 * .01 / 2 * (.3 + .5) / .14;
  EXPECT_NEAR(loss_after(one, kHessian, .01, 5), noise, 1e-12);
  // 1 and then 1/2: the mean of both noises.
  const auto two = pilot_newton(2, 1, Average::kNone, kStart, kInverse);
  EXPECT_NEAR(loss_after(two, kHessian, .01, 5), noise / 2, 1e-12);
}

TEST(LossAfter, DirectionsThatAreLeftOutStay) {
  const std::vector<double> half = {1 / .5, 0, 0, 0};
  const auto steps = pilot_newton(1, 1, Average::kNone, kStart, half);
  EXPECT_NEAR(loss_after(steps, kHessian, 0, 4), 2, 1e-12);
}

/// Against runs with steps that are too short, and with averages.
TEST(LossAfter, AgreesWithRuns) {
  const std::vector<double> other = {1.2, -.2, -.2, 2};
  for (const Average average : {Average::kNone, Average::kTail}) {
    Schedule steps = constant_step(5, .6, average, kStart);
    steps.preconditioner = other;
    SeededRandom random(5, 0);
    constexpr int kRuns = 20000;
    double mean = 0, squares = 0;
    for (int run = 0; run < kRuns; ++run) {
      // Start: N(0, 2 gap/p H^-1), by the Cholesky factor of the inverse.
      const double a = std::sqrt(kInverse[0]), b = kInverse[1] / a;
      const double c = std::sqrt(kInverse[3] - b * b), x = random.normal(), y = random.normal();
      steps.start = {std::sqrt(.2) * a * x, std::sqrt(.2) * (b * x + c * y)};  // gap .2, p 2
      Descent descent(steps, 1e9, 0);
      while (!descent.finished()) {
        const auto theta = descent.theta();
        const std::vector<double> gradient = {
            kHessian[0] * theta[0] + kHessian[1] * theta[1] + .3 * random.normal(),
            kHessian[2] * theta[0] + kHessian[3] * theta[1] + .3 * random.normal()};
        descent.step(gradient);
      }
      const auto end = descent.average();
      const double loss = (kHessian[0] * end[0] * end[0] + 2 * kHessian[1] * end[0] * end[1] +
                           kHessian[3] * end[1] * end[1]) /
                          2;
      mean += loss / kRuns, squares += loss * loss / kRuns;
    }
    const double error = std::sqrt((squares - mean * mean) / kRuns);
    // Off by more than 5 standard errors in 6e-7 of seeds.
    EXPECT_NEAR(loss_after(steps, kHessian, .3, .2), mean, 5 * error);
  }
}

}  // namespace loss_after_test
}  // namespace parley::learn
