#include "parley/forecast/propagate/propagation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "parley/base/math/seeded_random.h"
#include "parley/forecast/propagate/moments.h"
#include "parley/learn/fitness.h"

namespace parley::forecast {
namespace propagation_test {

using learn::Average, learn::ClipIn;

/// Normal features, a bias, labels by a noisy plane; for classes its sign.
data::Rows records(size_t count, size_t columns, bool classes) {
  data::Rows rows(columns);
  SeededRandom random(3, columns);
  for (size_t i = 0; i < count; ++i) {
    std::vector<double> z(columns, 1);
    double score = .4 * random.normal();
    for (size_t j = 0; j + 1 < columns; ++j) {
      z[j] = random.normal();
      score += (j % 2 ? .5 : -.3) * z[j];
    }
    rows.add(z, classes ? (score > 0 ? 1 : -1) : score);
  }
  return rows;
}

struct Simulated {
  double mean = 0, standard_error = 0;
};

/// Relative fitness over runs of the learner's own code under Laplace noise.
Simulated simulated(const Propagation& how, const learn::Schedule& schedule, double variance,
                    size_t runs) {
  const size_t p = how.rows.columns();
  learn::Descent descent(schedule, how.box, how.l2, runs);
  SeededRandom random(5, 9);
  while (!descent.finished()) {
    std::vector<double> gradients;
    for (size_t r = 0; r < runs; ++r)
      for (double slope :
           learn::mean_gradient(how.loss, how.rows, descent.theta(r), how.norm, how.limit)) {
        const double u = random.uniform() - .5;
        gradients.push_back(slope + (u < 0 ? 1 : -1) * std::sqrt(variance / 2) *
                                        std::log(1 - 2 * std::fabs(u)));
      }
    descent.step(gradients);
  }
  learn::Fitness fitness(how.loss, p, how.l2);
  fitness.add(how.rows);
  const double best = fitness.minimum(how.box).fitness;
  double sum = 0, squares = 0;
  for (size_t r = 0; r < runs; ++r) {
    const double value = fitness.at(descent.average(r)) / best - 1;
    sum += value, squares += value * value;
  }
  const auto n = static_cast<double>(runs);
  return {sum / n, std::sqrt((squares / n - sum * sum / n / n) / n)};
}

double relative(const Propagation& how, const Propagated& found) {
  learn::Fitness fitness(how.loss, how.rows.columns(), how.l2);
  fitness.add(how.rows);
  return estimate_output(how.estimated(), found.output).fitness / fitness.minimum(how.box).fitness -
         1;
}

double fitness_of(const Propagation& how, const Propagated& found) {
  return estimate_output(how.estimated(), found.output).fitness;
}

TEST(Propagation, IsExactOnAQuadratic) {
  const data::Rows rows = records(500, 4, false);
  const Propagation how{.rows = rows, .loss = learn::Squared{}, .l2 = .01, .box = 1e9};
  learn::Fitness fitness(how.loss, 4, how.l2);
  fitness.add(rows);
  const auto best = fitness.minimum(how.box);
  Quadratic quadratic{
      .hessian = learn::clipped_hessian(how.loss, rows, best.theta, ClipIn::kNone, 0, how.l2)};
  for (double value : best.theta) quadratic.start.push_back(-value);
  auto schedule = learn::algorithm2(9, .3, Average::kTail, std::vector<double>(4));
  for (const double momentum : {0.0, .4}) {
    schedule.momentum = momentum;
    const auto exact = exact_moments(quadratic, schedule);
    const auto found = Propagator(how).run(schedule, .05);
    EXPECT_NEAR(fitness_of(how, found) - best.fitness, exact.optimisation + .05 * exact.noise_gain,
                1e-6);
    for (size_t k = 0; k < 16; ++k)
      EXPECT_NEAR(found.output.covariance[k], .05 * exact.noise_part[k], 1e-6);
  }
}

// Slope and curvature are not looked up in every round of a long schedule.
TEST(Propagation, IsExactOnAQuadraticAlsoForManyRounds) {
  const data::Rows rows = records(4000, 6, false);
  const Propagation how{.rows = rows, .loss = learn::Squared{}, .box = 1e9};
  learn::Fitness fitness(how.loss, 6, 0);
  fitness.add(rows);
  const auto best = fitness.minimum(how.box);
  Quadratic quadratic{.hessian =
                          learn::clipped_hessian(how.loss, rows, best.theta, ClipIn::kNone, 0, 0)};
  for (double value : best.theta) quadratic.start.push_back(-value);
  const auto schedule = learn::algorithm2(200, .3, Average::kPaper, std::vector<double>(6));
  const auto exact = exact_moments(quadratic, schedule);
  const double expected = exact.optimisation + .05 * exact.noise_gain;
  EXPECT_NEAR(fitness_of(how, Propagator(how).run(schedule, .05)) - best.fitness, expected,
              1e-4 * expected);
}

TEST(Propagation, IsTheSameOnAnyNumberOfThreads) {
  const data::Rows rows = records(900, 5, true);
  Propagation how{.rows = rows, .loss = learn::Logistic{}, .l2 = .01, .box = 4};
  const auto schedule = learn::algorithm2(9, 1, Average::kPaper, std::vector<double>(5));
  const auto one = Propagator(how).run(schedule, .1).output.covariance;
  how.threads = 3;
  EXPECT_EQ(Propagator(how).run(schedule, .1).output.covariance, one);
}

// S8 and more: the model error of theory (D16) was at most 5 %, to which five standard
// errors are added, so that a fresh seed fails with probability below 1e-6.
void expect_near_runs(const Propagation& how, const learn::Schedule& schedule, double variance,
                      size_t runs) {
  const double forecast = relative(how, Propagator(how).run(schedule, variance));
  const Simulated found = simulated(how, schedule, variance, runs);
  EXPECT_NEAR(forecast, found.mean, .05 * found.mean + 5 * found.standard_error)
      << "standard error " << found.standard_error;
  EXPECT_LT(found.standard_error, .03 * found.mean);  // or the line above says nothing
}

TEST(Propagation, AgreesWithRunsOfLogisticRegression) {
  const data::Rows rows = records(1000, 10, true);
  const Propagation how{.rows = rows,
                        .loss = learn::Logistic{},
                        .l2 = .01,
                        .box = 4,
                        .norm = ClipIn::kL1,
                        .limit = 12};
  const auto schedule = learn::algorithm2(60, 2, Average::kPaper, std::vector<double>(10));
  expect_near_runs(how, schedule, .02, 400);
}

TEST(Propagation, AgreesWithRunsOfASupportVectorMachine) {
  const data::Rows rows = records(1000, 10, true);
  const Propagation how{
      .rows = rows, .loss = learn::Hinge{}, .l2 = 1, .box = 2, .norm = ClipIn::kL1, .limit = 30};
  const auto schedule = learn::algorithm2(60, 1, Average::kPaper, std::vector<double>(10));
  expect_near_runs(how, schedule, .02, 400);
}

TEST(Propagation, AgreesWithRunsOfClippedSquares) {
  const data::Rows rows = records(1000, 10, false);
  const Propagation how{
      .rows = rows, .loss = learn::Squared{}, .box = 1, .norm = ClipIn::kL1, .limit = 8};
  const auto schedule = learn::algorithm2(60, .5, Average::kPaper, std::vector<double>(10));
  expect_near_runs(how, schedule, .05, 400);
}

TEST(Propagation, NoticesThatTheBoxDecides) {
  const data::Rows rows = records(300, 4, false);
  const Propagation how{.rows = rows, .loss = learn::Squared{}, .box = 1};
  const auto schedule = learn::algorithm2(20, .5, Average::kPaper, std::vector<double>(4));
  EXPECT_LT(Propagator(how).run(schedule, 20).smallest_gain, .9);
  EXPECT_GT(Propagator(how).run(schedule, 1e-4).smallest_gain, .999);
}

TEST(Propagation, KnowsWhichShareOfRecordsIsClipped) {
  data::Rows rows(1);
  rows.add(std::vector<double>{1}, 0);  // slope 0 at theta = 0
  rows.add(std::vector<double>{1}, 5);  // slope -10
  const Propagation how{
      .rows = rows, .loss = learn::Squared{}, .box = 9, .norm = ClipIn::kL1, .limit = 4};
  const auto found = estimate_output(how.estimated(), {{0}, {1e-6}});
  EXPECT_NEAR(found.clipped, .5, 1e-6);
  EXPECT_NEAR(found.fitness, 12.5, 1e-5);
}

}  // namespace propagation_test
}  // namespace parley::forecast
