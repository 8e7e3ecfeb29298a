#include "parley/forecast/propagate/expected_loss.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <functional>

namespace parley::forecast {
namespace gaussian_loss_test {

TEST(GaussianLoss, MatchesTheGoldenHinge) {  // G11
  const auto found = expected(learn::Hinge{}, {.4, .7, 1});
  EXPECT_NEAR(found.value, 0.675996848382, 1e-12);
  EXPECT_NEAR(found.slope, -0.804317030846, 1e-12);
  EXPECT_NEAR(found.curvature, 0.394706446193, 1e-12);
}

TEST(GaussianLoss, MatchesTheGoldenLogistic) {  // G11
  const auto found = expected(learn::Logistic{}, {.4, .7, 1});
  EXPECT_NEAR(found.value, 0.569053135245, 1e-12);
  EXPECT_NEAR(found.slope, -0.410870651154, 1e-12);
  EXPECT_NEAR(found.curvature, 0.218432295209, 1e-12);
}

TEST(GaussianLoss, MatchesTheGoldenClampedNormal) {  // G10
  const auto found = clamped(.3, .25, 1);
  EXPECT_NEAR(found.mean, 0.2823978688318, 1e-12);
  EXPECT_NEAR(found.variance, 0.2145503309742, 1e-12);
  EXPECT_NEAR(found.gain, 0.9145821527425, 1e-12);
}

/// E of g over N(mean, deviation^2), by the trapezoidal rule.
double numeric(const Score& score, const std::function<double(double)>& g) {
  const int steps = 400000;
  double sum = 0;
  for (int k = 0; k <= steps; ++k) {
    const double x = -12 + 24.0 * k / steps;
    sum += g(score.mean + score.deviation * x) * normal_density(x) * 24 / steps;
  }
  return sum;
}

template <class Loss>
void expect_as_integrated(const Loss& loss, const Score& score, double limit, double near) {
  const auto found = expected(loss, score, limit);
  const auto slope = [&](double u) {
    return std::fmin(std::fmax(loss.slope(u, score.label), -limit), limit);
  };
  EXPECT_NEAR(found.value, numeric(score, [&](double u) { return loss.value(u, score.label); }),
              near);
  EXPECT_NEAR(found.slope, numeric(score, slope), near);
  // E g' = E g(u) (u - mean) / variance for any g (Stein).
  const auto stein = [&](double u) { return slope(u) * (u - score.mean); };
  EXPECT_NEAR(found.curvature, numeric(score, stein) / (score.deviation * score.deviation),
              near / score.deviation);
}

TEST(GaussianLoss, IsTheIntegralOfEveryLossAndItsClampedSlope) {
  for (const double label : {-1.0, 1.0}) {
    const Score score{.3, .8, label};
    expect_as_integrated(learn::Squared{}, score, 1.1, 1e-7);
    expect_as_integrated(learn::Squared{}, score, kNoLimit, 1e-7);
    expect_as_integrated(learn::Huber{.4}, score, 5, 1e-7);
    expect_as_integrated(learn::Huber{.4}, score, .5, 1e-7);
    expect_as_integrated(learn::Hinge{{2, 3}}, score, 2.5, 2e-5);  // a kink 0.003 wide
    expect_as_integrated(learn::Logistic{{2, 3}}, score, kNoLimit, 1e-6);
  }
}

// A clamped logistic slope has corners, which 15 points see only roughly.
TEST(GaussianLoss, OfAClampedLogisticIsWithinAFewPercent) {
  const learn::Logistic loss;
  const Score score{.3, .8, 1};
  const double limit = .4;
  const auto found = expected(loss, score, limit);
  const auto slope = [&](double u) { return std::fmax(loss.slope(u, 1), -limit); };
  EXPECT_NEAR(found.slope, numeric(score, slope), .01);
}

}  // namespace gaussian_loss_test

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
