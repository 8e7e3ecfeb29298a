#include "parley/plan/noise.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "parley/plan/budget.h"
#include "parley/plan/learner/weights.h"
#include "parley/plan/secagg_terms.h"

namespace parley::plan {
namespace noise_test {

charter::Charter charter_with(
    const std::string& privacy, const std::string& owner,
    const std::string& rule = "rule = \"constant\"\nrounds = 7\nstep = 0.3",
    const std::string& clip = "max_grad_norm = 3.0") {
  const std::string toml = R"(
[charter]
version = 1
name = "noise"
consortium = "tests.example"
[target]
column = "y"
bounds = [-1, 1]
[[column]]
name = "x"
kind = "number"
bounds = [-1, 1]
missing = 0
[model]
loss = "squared"
box = 1.0
[protocol]
name = "sync"
)" + rule + "\n[privacy]\n" +
                           clip + "\n" + privacy + "\n[[owner]]\nname = \"a\"\nrows = 30000\n" +
                           owner + "\n[learner]\nname = \"l\"\n";
  auto charter = charter::parse_charter(toml, "test.toml", ".");
  EXPECT_TRUE(charter) << describe(charter.error());
  return *charter;
}

// The forecaster's formula against the noise that the owner's terms really have.
void expect_as_in_the_terms(const charter::Charter& charter) {
  const auto law = *plan::NoiseLaw::of(charter);
  const double real = *plan::noise_variance(charter, 0);
  EXPECT_NEAR(law.variance(charter.owners[0], 7, 3) / real, 1, 1e-5);
  const double strength = law.strength(charter.owners[0].epsilon, charter.owners[0].delta);
  EXPECT_NEAR(law.epsilon(strength, charter.owners[0].delta), charter.owners[0].epsilon, 1e-7);
}

TEST(NoiseLaw, IsThatOfTheOwnersLaplaceNoise) {
  expect_as_in_the_terms(charter_with(
      "mechanism = \"laplace\"\nunit_records = 2\noverlap = 3\nevaluate = 0.1", "epsilon = 0.5"));
}

TEST(NoiseLaw, IsThatOfTheOwnersGaussianNoise) {
  expect_as_in_the_terms(
      charter_with("mechanism = \"gaussian\"\nunit_records = 2\noverlap = 3\nevaluate = 0.1",
                   "epsilon = 2.0\ndelta = 1e-6"));
}

TEST(NoiseLaw, IsThatOfReleasedStatistics) {
  for (const char* privacy : {"mechanism = \"laplace\"\nmax_row_norm = 0.5",
                              "mechanism = \"laplace\"\nmax_row_norm = 3.0",
                              "mechanism = \"laplace\"\nmax_row_norm = 3.0\nlabel_weight = 4.0",
                              "mechanism = \"gaussian\"\ndelta = 1e-6\nmax_row_norm = 0.5",
                              "mechanism = \"gaussian\"\ndelta = 1e-6\nmax_row_norm = 3.0\n"
                              "label_weight = 4.0",
                              "mechanism = \"gaussian\"\ndelta = 1e-6\nmax_row_norm = 3.0"}) {
    const auto charter = charter_with(privacy, "epsilon = 1.0", "rule = \"statistics\"", "");
    const auto law = *plan::NoiseLaw::of(charter);
    EXPECT_NEAR(law.variance(charter.owners[0], 1, plan::reach_of(charter)) /
                    *plan::noise_variance(charter, 0),
                1, 1e-5)
        << privacy;
  }
}

// Everyone adds what the strictest needs; if all are there the sum is louder than what is charged.
TEST(NoiseLaw, IsThatOfASecureSumOfGradients) {
  std::string owners = "epsilon = 1.0\n";
  for (const char* other : {"b\"\nrows = 500\nepsilon = 3.0", "c\"\nrows = 800\nepsilon = 0.7",
                            "d\"\nrows = 900\nepsilon = 1.0", "e\"\nrows = 70\nepsilon = 2.0"})
    owners += std::string("[[owner]]\nname = \"") + other + "\n";
  owners += "[secure_aggregation]\nsurvivors = 4\ncolluders = 1";
  const auto charter = charter_with("delta = 1e-6\nunit_records = 2", owners);
  const auto law = *plan::NoiseLaw::of(charter);
  double largest = 0;
  const auto weights = plan::sum_weights(charter);
  for (size_t i = 0; i < weights.size(); ++i) {
    const double own =
        law.variance(charter.owners[i], paid_answers(charter), charter.privacy.max_grad_norm);
    largest = std::max(largest, weights[i] * weights[i] * own);
  }
  const SecaggPlan plan = *secagg_plan(charter);
  const double share =
      std::visit([](const auto& known) { return known.variance(); }, plan.owners[0].mechanism);
  EXPECT_NEAR(largest / (share * 5 * plan.unit * plan.unit), 1, 1e-3);
}

TEST(NoiseLaw, MatchesTheGoldenScale) {  // G6 with kappa = 2: b = 0.04
  const plan::NoiseLaw law{.overlap = 2};
  EXPECT_NEAR(law.variance({.name = "a", .rows = 30000, .epsilon = 1}, 100, 3), 2 * .04 * .04,
              1e-15);
}

TEST(NoiseLaw, OfThePapersCalibrationIsRefusedByName) {
  auto charter = charter_with("", "epsilon = 1.0");
  charter.privacy.calibration = charter::Calibration::kPaper;
  const auto law = plan::NoiseLaw::of(charter);
  ASSERT_FALSE(law);
  EXPECT_EQ(law.error().where.key, "privacy.calibration");
}

TEST(BudgetOfJobs, EpsilonsAddUpWithoutADelta) {
  EXPECT_EQ(*epsilon_of_jobs(.5, 0, 1), .5);
  EXPECT_EQ(*epsilon_of_jobs(.5, 0, 12), 6);
  EXPECT_EQ(*epsilon_of_jobs(.5, 0, .5), .25);
}

TEST(BudgetOfJobs, WithOneTheyGrowMoreSlowly) {
  const double one = *epsilon_of_jobs(1, 1e-6, 1);
  EXPECT_LE(one, 1 + 1e-9);
  EXPECT_GT(one, 1 - 1e-3);
  double before = 0;
  for (const double jobs : {.1, 1., 2., 4., 16., 64.}) {
    const double now = *epsilon_of_jobs(1, 1e-6, jobs);
    EXPECT_GT(now, before);
    EXPECT_LT(now, std::max(jobs, 1.0) + 1e-9);
    before = now;
  }
  EXPECT_GT(*epsilon_of_jobs(1, 1e-6, 4), 2)
      << "the noise of four jobs is that of one twice as dear";
}

}  // namespace noise_test
}  // namespace parley::plan
