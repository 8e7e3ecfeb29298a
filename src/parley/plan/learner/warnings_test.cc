#include "parley/plan/learner/warnings.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "parley/base/math/seeded_random.h"
#include "parley/plan/learner/sync_plan.h"
#include "parley/plan/learner/weights.h"
#include "support/entropy.h"

namespace parley::plan {
namespace warnings_test {

/// A category of three levels, all of them features, and perhaps a bias, which is their sum.
charter::Charter charter_of(bool bias, double l2) {
  std::string text =
      "[charter]\nversion = 1\nname = \"levels\"\nconsortium = \"banks.example\"\n"
      "[pilot]\nfile = \"pilot.csv\"\nsha256 = \"" +
      std::string(64, '0') +
      "\"\nrows = 500\n[target]\ncolumn = \"y\"\nbounds = [-2.0, 2.0]\n"
      "[[column]]\nname = \"home\"\nkind = \"category\"\nlevels = [\"a\", \"b\", \"c\"]\n"
      "other = false\nencode = \"one_hot\"\n[[column]]\nname = \"x\"\nkind = \"number\"\n"
      "bounds = [-1.0, 1.0]\n"
      "missing = 0.0\n[model]\nloss = \"squared\"\nbox = 5.0\nl2 = " +
      std::to_string(l2) + "\nbias = " + (bias ? "true" : "false") +
      "\n[protocol]\nname = \"sync\"\nrule = \"pilot_newton\"\nrounds = 2\nstep = 1.0\n"
      "[privacy]\nmax_grad_norm = 4.0\nevaluate = 0.0\n"
      "[[owner]]\nname = \"bank-a\"\nrows = 1000\nepsilon = 1.0\n"
      "[[owner]]\nname = \"bank-b\"\nrows = 1000\nepsilon = 1.0\n[learner]\nname = \"center\"\n";
  auto charter = charter::parse_charter(text, "test", ".");
  EXPECT_TRUE(charter) << (charter ? "" : describe(charter.error()));
  return *charter;
}

data::Rows pilot_of(bool bias) {
  test::SeededEntropy entropy(1, "pilot");
  data::Rows rows(bias ? 5 : 4);
  for (int i = 0; i < 500; ++i) {
    std::vector<double> z(3);
    const uint64_t level = entropy.word() % 3;
    z[level] = 1;
    z.push_back(2 * test::uniform(entropy) - 1);
    if (bias) z.push_back(1);
    rows.add(z, .3 * double(level) + .5 * z[3]);
  }
  return rows;
}

std::vector<std::string> warnings(bool bias, double l2) {
  const auto charter = charter_of(bias, l2);
  const data::Rows pilot = pilot_of(bias);
  const auto said = plan_warnings(charter, &pilot);
  EXPECT_TRUE(said) << (said ? "" : describe(said.error()));
  return *said;
}

// With a small l2, and exactly singular without any.
TEST(PlanWarnings, AFullCategoryBesideABiasIsSaidToShortenSteps) {
  for (const double l2 : {1e-5, 0.}) {
    const auto said = warnings(true, l2);
    ASSERT_EQ(said.size(), 1u);
    EXPECT_NE(said[0].find("Steps there are shortened"), std::string::npos) << said[0];
    EXPECT_NE(said[0].find("leave out a level or the bias"), std::string::npos) << said[0];
  }
}

TEST(PlanWarnings, WithoutTheBiasOrWithMoreL2NothingIsSaid) {
  EXPECT_TRUE(warnings(false, 1e-5).empty());
  EXPECT_TRUE(warnings(true, .1).empty());
}

/// How far a gradient along `v` moves the model in the first step.
double moved(const SyncPlan& plan, const std::vector<double>& v) {
  const auto& schedule = plan.schedule;
  const size_t p = v.size();
  double square = 0;
  for (size_t i = 0; i < p; ++i) {
    double step = 0;
    for (size_t j = 0; j < p; ++j) step += schedule.preconditioner[i * p + j] * v[j];
    square += step * step;
  }
  return schedule.rounds[0].step * std::sqrt(square);
}

// Along the levels against the bias, whose curvature is l2, the step divides by sd sqrt(p)/2; the
// other directions are stepped along as without the floor.
TEST(NewtonFloor, BoundsTheNoiseOfAStepAlongWhatPublicRowsDoNotShow) {
  const auto charter = charter_of(true, 1e-5);
  const data::Rows pilot = pilot_of(true);
  const auto plan = sync_plan(charter, &pilot);
  ASSERT_TRUE(plan) << describe(plan.error());
  const double deviation = std::sqrt(*noise_variance(charter, 0) / 2);  // of two owners' mean
  const double most = 2 / (deviation * std::sqrt(5.0));
  EXPECT_NEAR(moved(*plan, {.5, .5, .5, 0, -.5}), most, 1e-3 * most);
  const double along_x = moved(*plan, {0, 0, 0, 1, 0});
  EXPECT_GT(along_x, 1);
  EXPECT_LT(along_x, 3);  // 1 / (2 E x^2), E x^2 = 1/3, of which a clip leaves most
}

// A level that 9 of 500 pilot rows have: no step is made there, and it is named.
TEST(NewtonFloor, LeavesOutColumnsThatThePilotHardlyKnows) {
  const auto charter = charter_of(false, 1e-3);
  data::Rows pilot(4);
  SeededRandom random(1, 1);
  for (int i = 0; i < 500; ++i) {
    std::vector<double> z = {i % 2 ? 1. : 0., i % 2 ? 0. : 1., 0, 2 * random.uniform() - 1};
    if (i < 9) z[0] = z[1] = 0, z[2] = 1;
    pilot.add(z, .5 * z[3]);
  }
  const auto plan = sync_plan(charter, &pilot);
  ASSERT_TRUE(plan) << describe(plan.error());
  EXPECT_EQ(moved(*plan, {0, 0, 1, 0}), 0);
  EXPECT_GT(moved(*plan, {1, 0, 0, 0}), .1);
  const auto said = plan_warnings(charter, &pilot);
  ASSERT_EQ(said->size(), 1u);
  EXPECT_NE(said->front().find("home=c"), std::string::npos) << said->front();
}

TEST(NewtonFloor, APilotOfAFewRowsIsRefused) {
  const auto charter = charter_of(false, 1e-3);
  data::Rows pilot(4);
  for (int i = 0; i < 9; ++i)
    pilot.add(std::vector<double>{i % 2 ? 1. : 0., i % 2 ? 0. : 1., 0, i / 9.}, 0);
  const auto plan = sync_plan(charter, &pilot);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().where.key, "pilot");
}

TEST(NewtonStep, IsCutToTheSizeOfTheLabels) {
  const data::Rows pilot = pilot_of(false);
  const auto plan = sync_plan(charter_of(false, 1e-3), &pilot);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->schedule.longest, 2);  // Labels lie in [-2, 2].
}

}  // namespace warnings_test
}  // namespace parley::plan
