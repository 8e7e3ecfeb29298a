#include "parley/forecast/expect/expected_slopes.h"

#include <gtest/gtest.h>

#include <Eigen/Core>

#include "parley/forecast/expect/gaussian_loss.h"

namespace parley::forecast {
namespace expected_slopes_test {

/// Many scores at a time are what single scores are, for any deviation, label and limit.
template <class Loss>
void expect_as_one_by_one(const Loss& loss, double near) {
  for (const double deviation : {0.0, 1e-4, .1, .5, 2.0})
    for (const double limit : {.3, 1.5, kNoLimit})
      for (const double label : {-1.0, 1.0}) {
        const Floats means = Floats::LinSpaced(41, -3.01F, 3), all = Floats::Ones(41);
        const Floats deviations = all * static_cast<float>(deviation);
        const Floats labels = all * static_cast<float>(label);
        const Floats limits = all * std::min(static_cast<float>(limit), kNoSlopeLimit);
        Floats slope, curvature;
        expected_slopes(loss, {means, deviations, labels, limits}, {slope, curvature});
        for (Eigen::Index i = 0; i < means.size(); ++i) {
          const auto one = expected(loss, {means[i], deviation, label}, limit);
          EXPECT_NEAR(slope[i], one.slope, near);
          EXPECT_NEAR(curvature[i], one.curvature, near * std::max(1.0, one.curvature));
        }
      }
}

TEST(ExpectedSlopes, OfSquaresAreThoseOfSingleScores) {
  expect_as_one_by_one(learn::Squared{}, 5e-6);
  expect_as_one_by_one(learn::Huber{.4}, 5e-6);
}
TEST(ExpectedSlopes, OfTheHingeAreThoseOfSingleScores) {
  expect_as_one_by_one(learn::Hinge{{2, 3}}, 2e-5);
}
TEST(ExpectedSlopes, OfTheLogisticAreThoseOfSingleScores) {
  expect_as_one_by_one(learn::Logistic{{2, 3}}, 2e-5);
}

}  // namespace expected_slopes_test
}  // namespace parley::forecast
