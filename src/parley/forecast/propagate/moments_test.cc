#include "parley/forecast/propagate/moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "parley/base/math/portable.h"
#include "parley/base/math/seeded_random.h"

namespace parley::forecast {
namespace exact_test {

const Quadratic kTiny{.hessian = {2, 0, 0, .5}, .start = {-1, .5}};

double laplace(SeededRandom& random, double scale) {
  const double u = random.uniform() - .5;
  return (u < 0 ? 1 : -1) * scale * std::log(1 - 2 * std::fabs(u));
}

TEST(ExactMoments, MatchTheGoldenLastIterate) {  // G8
  const auto moments =
      exact_moments(kTiny, learn::algorithm2(4, .5, learn::Average::kNone, {0, 0}));
  EXPECT_NEAR(moments.optimisation, 0.01335546129248, 1e-12);
  EXPECT_NEAR(.04 * moments.noise_gain, 0.006508375806212, 1e-12);
}

TEST(ExactMoments, MatchTheGoldenAverage) {  // G8: T = 5 of the paper reads three answers
  const auto moments =
      exact_moments(kTiny, learn::algorithm2(3, .5, learn::Average::kPaper, {0, 0}));
  EXPECT_NEAR(moments.optimisation, 0.05450135914468, 1e-12);
  EXPECT_NEAR(.04 * moments.noise_gain, 0.004182117456036, 1e-12);
}

TEST(ExactMoments, CostIsWhatMeanAndCovarianceCost) {
  const auto moments =
      exact_moments(kTiny, learn::constant_step(7, .3, learn::Average::kTail, {0, 0}));
  EXPECT_NEAR(moments.noise_gain, moments.noise_part[0] + .25 * moments.noise_part[3], 1e-15);
}

/// The mean of f - f* over runs of the learner's own code under Laplace noise.
double simulated(const Quadratic& q, learn::Schedule schedule, double variance, size_t runs) {
  const size_t p = q.start.size();
  schedule.start = q.start;  // theta* = 0
  learn::Descent descent(schedule, 1e9, 0, runs);
  SeededRandom random(7, 1);
  std::vector<double> gradients(p * runs);
  while (!descent.finished()) {
    for (size_t r = 0; r < runs; ++r)
      for (size_t i = 0; i < p; ++i) {
        double slope = laplace(random, std::sqrt(variance / 2));
        for (size_t j = 0; j < p; ++j) slope += q.hessian[i * p + j] * descent.theta(r)[j];
        gradients[r * p + i] = slope;
      }
    descent.step(gradients);
  }
  double sum = 0;
  for (size_t r = 0; r < runs; ++r) sum += quadratic_cost(q.hessian, descent.average(r), {});
  return sum / static_cast<double>(runs);
}

Quadratic ten_directions() {
  Quadratic q{.hessian = std::vector<double>(100), .start = std::vector<double>(10, .3)};
  for (size_t j = 0; j < 10; ++j) q.hessian[j * 11] = 1.9 + .02 * static_cast<double>(j);
  return q;
}

// S6: 4,000 runs have a standard error of 0.7 %; five of them fail with probability 6e-7.
TEST(ExactMoments, AgreeWithRunsOfTheLearnersCode) {
  const Quadratic q = ten_directions();
  const double variance = .02;
  for (const auto average :
       {learn::Average::kNone, learn::Average::kPaper, learn::Average::kTail}) {
    const auto schedule = learn::algorithm2(100, .5, average, q.start);
    const auto moments = exact_moments(q, schedule);
    const double expected = moments.optimisation + variance * moments.noise_gain;
    EXPECT_NEAR(simulated(q, schedule, variance, 4000) / expected, 1, .036);
  }
}

// A preconditioner that is not the inverse curvature, and momentum: still exact.
TEST(ExactMoments, AgreeWithRunsUnderAPreconditionerAndMomentum) {
  const Quadratic q{.hessian = {2, .4, .4, 1}, .start = {-.2, .3}};
  auto schedule = learn::pilot_newton(6, .7, learn::Average::kTail, q.start, {.6, -.1, -.1, .8});
  schedule.momentum = .3;
  const auto moments = exact_moments(q, schedule);
  const double expected = moments.optimisation + .05 * moments.noise_gain;
  // Two directions vary more: CV about 1, so that 40,000 runs have 0.5 %.
  EXPECT_NEAR(simulated(q, schedule, .05, 40000) / expected, 1, .03);
}

TEST(ExactCosts, AreThoseOfTheMoments) {
  const Quadratic q{
      .hessian = {2, .4, .4, 1}, .start = {-.2, .3}, .start_spread = {.09, .01, .01, .04}};
  auto schedule = learn::pilot_newton(6, .7, learn::Average::kTail, q.start, {.6, -.1, -.1, .8});
  schedule.momentum = .3;
  const auto moments = exact_moments(q, schedule);
  const auto costs = ExactCosts(q, schedule.preconditioner).of(schedule);
  EXPECT_NEAR(costs.optimisation, moments.optimisation, 1e-14);
  EXPECT_NEAR(costs.noise_gain, moments.noise_gain, 1e-14);
}

// A start drawn at random costs what the learner's code says it costs, without any noise.
TEST(ExactMoments, CarryTheSpreadOfTheStart) {
  const auto schedule = learn::constant_step(4, .2, learn::Average::kTail, {0, 0});
  Quadratic q{.hessian = {2, .4, .4, 1}, .start = {0, 0}, .start_spread = {.09, 0, 0, .04}};
  const double spread = exact_moments(q, schedule).optimisation;
  double sum = 0;
  for (const std::vector<double>& start :
       {std::vector<double>{.3, 0}, std::vector<double>{0, .2}}) {
    q.start = start;
    sum += simulated(q, schedule, 0, 1);
  }
  EXPECT_NEAR(spread, sum, 1e-12);
}

}  // namespace exact_test

namespace response_test {

TEST(Response, OfAQuadraticIsALine) {
  const auto line = Response::line(2, 3);
  EXPECT_DOUBLE_EQ(line.at(0), 2);
  EXPECT_DOUBLE_EQ(line.at(50), 152);
  EXPECT_DOUBLE_EQ(line.gain(.01), 3);
  EXPECT_DOUBLE_EQ(line.variance_for(152), 50);
  EXPECT_EQ(line.variance_for(1.5), 0);
  EXPECT_DOUBLE_EQ(line.scaled(.5).at(50), 76);
}

TEST(Response, GoesThroughItsPointsAndFollowsPowersBetweenThem) {
  const auto table = Response::table({{0, 1}, {1, 2}, {100, 11}});  // exponent 1/2 above the floor
  for (const auto& [variance, excess] :
       {std::pair(0.0, 1.0), {1, 2}, {100, 11}, {25, 6}, {.5, 1.5}})
    EXPECT_NEAR(table.at(variance), excess, 1e-12);
  EXPECT_NEAR(table.at(400), 21, 1e-12);  // beyond the last: the same power
  EXPECT_NEAR(table.gain(25), .5 * 5 / 25, 1e-12);
}

TEST(Response, IsInvertedWhereItRises) {
  const auto table = Response::table({{0, 1}, {1, 2}, {100, 11}, {200, 10}});
  for (const double variance : {.3, 1.0, 7.0, 99.0})
    EXPECT_NEAR(table.variance_for(table.at(variance)), variance, 1e-9 * variance);
}

}  // namespace response_test

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
