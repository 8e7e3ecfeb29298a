#include "parley/forecast/propagate/bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace parley::forecast {
namespace bound_test {

std::vector<std::pair<double, double>> points(double floor, double root, double line) {
  std::vector<std::pair<double, double>> result;
  for (const double s : {1e-4, 1e-2, 1.0, 1e2, 1e4})
    result.emplace_back(s, floor + root * std::sqrt(s) + line * s);
  return result;
}

TEST(BoundFit, FindsTheConstantsItsFormHas) {
  const auto async = fit_bound(points(.3, .2, .1), BoundForm::kAsync);
  EXPECT_NEAR(async.floor, .3, 1e-9);
  EXPECT_NEAR(async.root, .2, 1e-9);
  EXPECT_NEAR(async.line, .1, 1e-9);
  const auto smooth = fit_bound(points(.3, 0, .1), BoundForm::kSmooth);
  EXPECT_NEAR(smooth.at(50), .3 + 5, 1e-9);
  const auto general = fit_bound(points(.3, .2, 0), BoundForm::kGeneral);
  EXPECT_NEAR(general.at(49), .3 + 1.4, 1e-9);
}

TEST(BoundFit, HasNoCoefficientBelowZero) {
  const std::vector<std::pair<double, double>> falling = {{1, 3}, {2, 2}, {3, 1.5}};
  const auto fit = fit_bound(falling, BoundForm::kAsync);
  EXPECT_GE(fit.floor, 0);
  EXPECT_GE(fit.root, 0);
  EXPECT_GE(fit.line, 0);
}

}  // namespace bound_test
}  // namespace parley::forecast
