#include <gtest/gtest.h>

#include <cmath>

#include "parley/base/math/seeded_random.h"
#include "parley/forecast/predict/predict.h"

namespace parley::forecast {
namespace pilot_runs_test {

PilotStatistics statistics(charter::Loss loss) {
  auto rows = std::make_shared<data::Rows>(3);
  SeededRandom random(1, 7);
  for (int i = 0; i < 1500; ++i) {
    const std::vector<double> z = {random.normal(), random.normal(), random.normal()};
    const double y = .5 * z[0] - .3 * z[1] + .4 * random.normal();
    rows->add(z, loss == charter::Loss::kSquared ? y : y > 0 ? 1 : -1);
  }
  charter::Model model;
  model.loss = loss, model.l2 = .01, model.box = 1;
  return statistics_of(model, rows);
}

SyncJob job(double variance) {
  return {learn::algorithm2(30, .5, learn::Average::kPaper, std::vector<double>(3)), 0,
          learn::ClipIn::kL1, 50, variance};
}

// 128 runs of three directions have a standard error of about 8 %; six of them.
TEST(PilotRuns, AgreeWithMomentsWhereThoseAreExact) {
  const PilotStatistics squared = statistics(charter::Loss::kSquared);
  const auto runs = run_on_pilot(squared, job(.01), 1);
  const auto exact = predict(squared, job(.01));
  EXPECT_EQ(exact.predictor, "moments");
  EXPECT_NEAR(runs.excess, exact.excess, 6 * runs.standard_error);
}

TEST(PilotRuns, AreTakenWhereTheBoxDecides) {
  for (const auto loss : {charter::Loss::kSquared, charter::Loss::kHinge}) {
    const auto found = predict(statistics(loss), job(50));
    EXPECT_EQ(found.predictor, "pilot_monte_carlo");
    EXPECT_GT(found.excess, found.optimisation);
    for (const double value : found.distribution.mean) EXPECT_LE(std::fabs(value), 1);
  }
}

TEST(PilotRuns, ForecastAsynchronousJobsOfOtherLosses) {
  AsyncJob async{.rule = {.step = .2,
                          .l2 = .01,
                          .box = 1,
                          .dimension = 3,
                          .rounds = 90,
                          .output = learn::AsyncOutput::kTail},
                 .limit = 50,
                 .variances = std::vector<double>(3, 1)};
  for (int i = 0; i < 3; ++i) async.rule.add(1 / 3.0, 1);
  async.rule.set_steps();
  const auto found = predict(statistics(charter::Loss::kLogistic), async);
  EXPECT_EQ(found.predictor, "pilot_monte_carlo");
  EXPECT_GT(found.excess, found.optimisation);
}

}  // namespace pilot_runs_test
}  // namespace parley::forecast
