#include <gtest/gtest.h>

#include <cmath>

#include "parley/forecast/choose/choose.h"

namespace parley::forecast {
namespace steps_advice_test {

/// Ten parties of a9a drawn alike, as the numpy reference has them: it finds 4.7.
const StepsBound kAlike{.smooth = .251,
                        .convex = 1e-3,
                        .steps = 200,
                        .optima = .0026,
                        .gradients = 5e-5,
                        .noise = 1.5e-3};

TEST(StepsBound, AllowsLocalStepsUntilTheirPartIsAsLargeAsTheRest) {
  EXPECT_EQ(kAlike.floor(), 4);
  const auto bracket = [](double k) { return kAlike.at(k) / kAlike.at(1); };
  EXPECT_LE(bracket(4), 2);
  EXPECT_GT(bracket(5), 2);
}

TEST(StepsBound, OfOwnersThatDifferMoreAllowsFewer) {
  StepsBound apart = kAlike;
  apart.gradients = .014;
  EXPECT_EQ(apart.floor(), 1);
}

TEST(StepsBound, IsPricedByTheCubeRootOfTheSpecification) {
  const double price = 1, gamma = 8 * kAlike.smooth / kAlike.convex - 1;
  const double root = std::cbrt(price * kAlike.steps * (gamma + kAlike.steps) * kAlike.convex *
                                kAlike.convex / (32 * kAlike.smooth * kAlike.gradients));
  // (K - 1)^2 is not K^2: the formula is for many.
  EXPECT_NEAR(static_cast<double>(kAlike.priced(price, 200)), root, 1.5);
  EXPECT_EQ(kAlike.priced(0, 200), 1);
}

}  // namespace steps_advice_test
}  // namespace parley::forecast
