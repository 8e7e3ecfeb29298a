#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>

#include "parley/base/math/seeded_random.h"
#include "parley/forecast/predict/local_steps.h"
#include "parley/forecast/predict/predict.h"
#include "parley/plan/secagg_terms.h"

namespace parley::forecast {
namespace federated_test {

constexpr size_t kColumns = 4;

std::shared_ptr<const data::Rows> rows_of(size_t count, bool classes) {
  auto rows = std::make_shared<data::Rows>(kColumns);
  SeededRandom random(3, 2);
  for (size_t i = 0; i < count; ++i) {
    std::vector<double> z(kColumns);
    double y = .3 * random.normal();
    for (size_t j = 0; j < kColumns; ++j) {
      z[j] = .5 * (random.uniform() * 2 - 1);
      y += (j % 2 ? 1.5 : -1) * z[j];
    }
    rows->add(z, classes ? (y > 0 ? 1 : -1) : y);
  }
  return rows;
}

PilotStatistics statistics_of_rows(bool classes) {
  charter::Model model;
  model.loss = classes ? charter::Loss::kLogistic : charter::Loss::kSquared;
  model.l2 = .01, model.box = 100;
  return statistics_of(model, rows_of(3000, classes));
}

FederatedJob job_of_steps(const PilotStatistics& statistics, int64_t rounds, int64_t steps) {
  FederatedJob job;
  job.plan = {.loss = statistics.loss,
              .l2 = statistics.l2,
              .step = .5,
              .steps = steps,
              .box = statistics.box,
              .rows = 1,
              .dimension = kColumns};
  job.rounds = rounds;
  job.start.assign(kColumns, 0);
  job.variance = 1e-4;
  job.weights.assign(5, .2);
  job.rows.assign(5, 1000);
  return job;
}

// The standard error of 150 runs is 6 % (four directions); 6 of them.
TEST(Federated, MomentsAreThoseOfTheRoundsThemselves) {
  for (const bool classes : {false, true}) {
    const PilotStatistics statistics = statistics_of_rows(classes);
    for (const int64_t steps : {1, 5, 20}) {
      const FederatedJob job = job_of_steps(statistics, 100 / steps, steps);
      const Prediction found = predict(statistics, job, {.runs = false});
      const PilotRuns runs = run_on_pilot(statistics, job);
      EXPECT_NEAR(found.excess, runs.excess, 6 * runs.standard_error + .02 * runs.excess)
          << steps << " " << classes;
    }
  }
}

TEST(Federated, NoiseOnceInKStepsIsLessSpreadThanInEvery) {
  const PilotStatistics statistics = statistics_of_rows(false);
  const auto noise = [&](int64_t steps) {
    const Prediction found =
        predict(statistics, job_of_steps(statistics, 100 / steps, steps), {.runs = false});
    return found.excess - found.optimisation;
  };
  EXPECT_GT(noise(1), noise(5));
  EXPECT_GT(noise(5), noise(20));
}

TEST(Federated, SingleStepsLeadNobodyApart) {
  const PilotStatistics statistics = statistics_of_rows(true);
  FederatedJob job = job_of_steps(statistics, 50, 1);
  job.differ = .01;
  EXPECT_EQ(predict(statistics, job).drift, 0);
}

TEST(Federated, OwnersThatDifferLeadApartAndMoreWithMoreLocalSteps) {
  const PilotStatistics statistics = statistics_of_rows(true);
  double before = 0;
  for (const int64_t steps : {5, 20, 50}) {
    FederatedJob job = job_of_steps(statistics, 1000 / steps, steps);
    job.rows.assign(5, 1e9);
    job.differ = .05 * statistics.optimum.fitness;
    const double drift = drift_of(statistics, job);
    EXPECT_GT(drift, 1.5 * before) << steps;
    before = drift;
    job.differ = 0;
    EXPECT_NEAR(drift_of(statistics, job), 0, .01 * drift) << steps;
  }
}

TEST(Federated, AnUpdateThatIsCutShortIsRun) {
  const PilotStatistics statistics = statistics_of_rows(true);
  FederatedJob job = job_of_steps(statistics, 20, 5);
  job.plan.max_update = .01;
  const Prediction cut = predict(statistics, job);
  EXPECT_EQ(cut.predictor, "pilot_monte_carlo");
  job.plan.max_update = 0;
  EXPECT_GT(cut.optimisation, 2 * predict(statistics, job).optimisation);
}

TEST(SyntheticOwners, CountEveryRowOnceAndMissWhatIsDeclared) {
  const PilotStatistics statistics = statistics_of_rows(true);
  const std::vector<double> weights = {.5, .3, .2}, rows(3, 1e12);
  const double differ = .02 * statistics.optimum.fitness;
  const SyntheticOwners owners =
      synthetic_owners(statistics, {.weights = weights, .rows = rows, .differ = differ});
  EXPECT_NEAR(owners.differ, differ, .01 * differ);
  const Eigen::VectorXd pooled = owners.pooled();
  EXPECT_NEAR(pooled.minCoeff(), 1, 1e-2);
  EXPECT_NEAR(pooled.maxCoeff(), 1, 1e-2);
  EXPECT_NEAR(dissimilarity(statistics, owners, statistics.optimum.theta).optima, differ,
              .01 * differ);
}

// Gradients of owners with n rows have 1/n of a record's covariance: Gamma is B/n less B/all. Of 12
// owners in 4 directions the mean of 48 squares has a standard error of 20 %.
TEST(SyntheticOwners, OfFiniteRowsDifferByChance) {
  const PilotStatistics statistics = statistics_of_rows(true);
  const std::vector<double> weights(12, 1.0 / 12), rows(12, 500);
  const auto found =
      dissimilarity(statistics, synthetic_owners(statistics, {.weights = weights, .rows = rows}),
                    statistics.optimum.theta);
  EXPECT_NEAR(found.optima / (statistics.sampling * (1 / 500.0 - 1 / 6000.0)), 1, .9);
  EXPECT_GT(found.gradients, 0);
}

TEST(NoiseLaw, OfSharesIsTheOneThatTheGateCalibrates) {
  std::string owners;
  for (int i = 0; i < 6; ++i)
    owners += "[[owner]]\nname = \"o" + std::to_string(i) +
              "\"\nrows = " + std::to_string(1000 + 500 * i) +
              "\nepsilon = " + std::to_string(1 + .5 * i) + "\ndelta = 1e-6\n";
  for (const char* more : {"", "weights = \"parties\"\n", "schedule = \"theorem4\"\n",
                           "level = \"party\"\nmax_update_norm = 0.5\n"})
    for (const char* mechanism : {"gaussian", "skellam"}) {
      const std::string text =
          "[charter]\nversion = 1\nname = \"t\"\nconsortium = \"tests.example\"\n[target]\ncolumn "
          "= \"y\"\nbounds = [-1, 1]\n[[column]]\nname = \"x\"\nkind = \"number\"\nbounds = [-1, "
          "1]\nmissing = 0\ncount = 4\n[model]\nloss = \"squared\"\nl2 = 0.01\nbox = "
          "2.0\n[protocol]\nname = \"federated\"\nrounds = 7\nlocal_steps = 20\nstep = 0.3\n" +
          std::string(more) + "[privacy]\nmechanism = \"" + mechanism +
          "\"\nmax_row_norm = 1.0\nmax_grad_norm = 2.0\nunit_records = 2\noverlap = "
          "3\n[secure_aggregation]\nsurvivors = 5\ncolluders = 2\nrepeats = 2\n" +
          owners + "[learner]\nname = \"l\"\n";
      const auto charter = charter::parse_charter(text, "test.toml", ".");
      ASSERT_TRUE(charter) << describe(charter.error());
      const auto shares = plan::secagg_plan(*charter);
      ASSERT_TRUE(shares) << describe(shares.error());
      const double one = std::visit([](const auto& known) { return known.variance(); },
                                    shares->owners[0].mechanism);
      const double sum = 6 * one * shares->gamma * shares->gamma;
      const PilotStatistics statistics = statistics_of(charter->model, rows_of(500, false));
      const auto job = job_of(*charter, statistics);
      ASSERT_TRUE(job) << describe(job.error());
      EXPECT_NEAR(job->variance() / sum, 1, 5e-3) << more << mechanism;
    }
}

}  // namespace federated_test
}  // namespace parley::forecast
