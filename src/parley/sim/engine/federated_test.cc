// Federated training with every party in one process, among faults.
#include <gtest/gtest.h>

#include <cmath>

#include "parley/learn/objective.h"
#include "parley/ledger/read.h"
#include "parley/plan/secagg_terms.h"
#include "parley/protocol/make_learner.h"
#include "parley/sim/engine/engine.h"
#include "parley/sim/engine/party.h"
#include "parley/sim/load.h"
#include "parley/sim/outcome.h"
#include "support/ledgers.h"

namespace parley::sim {
namespace federated_test {

struct Job {
  size_t owners = 6;
  int rounds = 5, local_steps = 3, repeats = 1;
  double epsilon = 10;
  std::string secure{}, protocol{}, privacy{};
  std::vector<int> rows{};  // else 200 each
};

charter::Charter charter_of(const Job& job) {
  std::string text =
      "[charter]\nversion = 1\nname = \"clinics\"\nconsortium = \"clinics.example\"\n"
      "[target]\ncolumn = \"int_rate\"\nbounds = [5.0, 29.0]\ncenter = 13.25\nscale = 15.75\n"
      "[[column]]\nname = \"pc\"\ncount = 10\nkind = \"number\"\nbounds = [-40.0, 40.0]\n"
      "missing = 0.0\n[model]\nloss = \"squared\"\nl2 = 1e-2\nbox = 1.0\n"
      "[protocol]\nname = \"federated\"\nrounds = " +
      std::to_string(job.rounds) + "\nlocal_steps = " + std::to_string(job.local_steps) + "\n" +
      (job.protocol.empty() ? "step = 0.3\n" : job.protocol) +
      "[privacy]\nmax_row_norm = 1.0\nmax_grad_norm = 2.0\ndelta = 1e-6\n" + job.privacy +
      "[network]\ndeadline_s = 60\n[secure_aggregation]\nrepeats = " + std::to_string(job.repeats) +
      "\n" + job.secure;
  for (size_t i = 0; i < job.owners; ++i)
    text += "[[owner]]\nname = \"clinic-" + std::to_string(i) +
            "\"\nrows = " + std::to_string(job.rows.empty() ? 200 : job.rows[i]) +
            "\nepsilon = " + std::to_string(job.epsilon) + "\n";
  text += "[learner]\nname = \"registry\"\n";
  auto charter = charter::parse_charter(text, "test.charter.toml", ".");
  EXPECT_TRUE(charter) << (charter ? "" : describe(charter.error()));
  return *charter;
}

SimulateInput input_of(const Job& job) {
  return as_trained(*load_standin(charter_of(job), "lending", 1));
}

Result<JobRun> try_run(const SimulateInput& input, uint64_t seed, const Faults& faults = {}) {
  const SimulateOptions options{.seed = seed};
  return run_job({input, options, 0, faults});
}

JobRun run_of(const SimulateInput& input, uint64_t seed, const Faults& faults = {}) {
  const auto run = try_run(input, seed, faults);
  EXPECT_TRUE(run) << (run ? "" : describe(run.error()));
  return run ? *run : JobRun{};
}

/// Gradient descent on all owners' rows, without noise: sum of w_i (mean gradient of owner i).
std::vector<double> plain_descent(const SimulateInput& input, const std::vector<double>& weights) {
  const charter::Charter& charter = input.charter;
  std::vector<double> theta(charter.schema.features().size());
  for (int64_t round = 0; round < charter.protocol.rounds; ++round) {
    std::vector<double> slope = theta;
    for (double& value : slope) value *= charter.model.l2;
    for (size_t i = 0; i < input.owners.size(); ++i) {
      const auto mean =
          learn::mean_gradient(charter::loss_of(charter.model), *std::get<0>(input.owners[i].rows),
                               theta, learn::ClipIn::kL2, charter.privacy.max_grad_norm);
      for (size_t j = 0; j < slope.size(); ++j) slope[j] += weights[i] * mean[j];
    }
    for (size_t j = 0; j < theta.size(); ++j) theta[j] -= charter.protocol.step * slope[j];
  }
  return theta;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (size_t j = 0; j < a.size(); ++j) most = std::fmax(most, std::fabs(a[j] - b[j]));
  return most;
}

TEST(FederatedSimulation, OneLocalStepIsGradientDescentOnAllRecords) {
  for (const std::string weights : {"rows", "parties"}) {
    const SimulateInput input = input_of({.owners = 4,
                                          .rounds = 8,
                                          .local_steps = 1,
                                          .epsilon = 10'000,
                                          .protocol = "step = 0.3\nweights = \"" + weights + "\"\n",
                                          .rows = {100, 400, 250, 50}});
    const auto plan = plan::secagg_plan(input.charter);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->weights[1], weights == "rows" ? .5 : .25);
    const JobRun run = run_of(input, 1);
    // Steps only bring noise nearer, so it is at most that of eight sums: false alarms below 1e-12.
    const double variance =
        std::get<privacy::GaussianShare>(plan->owners[0].mechanism).variance() * 4;
    const double noise = 8 * std::sqrt(8 * variance) * plan->gamma;
    const auto plain = plain_descent(input, plan->weights);
    EXPECT_LT(distance(run.trained.theta, plain), noise) << weights;
    EXPECT_LT(50 * noise, distance(plain, std::vector<double>(plain.size()))) << weights;
  }
}

TEST(FederatedSimulation, TheSameSeedGivesTheSameModelFaultsIncluded) {
  const SimulateInput input = input_of({.repeats = 40});
  const Faults faults{.drop = .02, .duplicate = .02, .crash = .02, .delay = .1};
  const JobRun run = run_of(input, 3, faults);
  EXPECT_GT(run.broken, 0u);
  EXPECT_EQ(run.trained.theta, run_of(input, 3, faults).trained.theta);
  EXPECT_NE(run.trained.theta, run_of(input, 4, faults).trained.theta);
}

/// The model again, from what the learner kept.
void expect_replayed(const SimulateInput& input, const JobRun& run) {
  const auto learner = protocol::make_learner(input.charter, nullptr, protocol::Receipts::kSigned);
  ASSERT_TRUE(learner);
  const wire::Transcript journal{.entries = run.journal, .notes = run.notes};
  const auto taken = journal.in_order(
      [&](const wire::Entry& entry) { return (*learner)->replay(entry.owner, entry.answer); },
      [&](const wire::Note& note) { return (*learner)->replay(note); });
  ASSERT_TRUE(taken) << describe(taken.error());
  EXPECT_TRUE((*learner)->finished());
  EXPECT_EQ((*learner)->trained().theta, run.trained.theta);
  EXPECT_EQ((*learner)->trained().evaluation, run.trained.evaluation);
}

// No owner beyond its payments or its budget, everything taken was paid for, and the journal gives
// the model; whatever happens to messages and processes, on any of many seeds.
TEST(FederatedSimulation, AmongFaultsItEndsWithinTheBudgetOrSaysWhyNot) {
  const Faults kinds[] = {
      {.drop = .02},
      {.duplicate = .03},
      {.corrupt = .02},
      {.crash = .02},
      {.crash = .02, .vanish = .1},
      {.delay = .5, .reorder = .02},
      {.learner = .01},
      {.drop = .01, .corrupt = .01, .crash = .01, .learner = .003, .delay = .2}};
  const SimulateInput input = input_of({.repeats = 20, .secure = "survivors = 5\nthreshold = 4\n"});
  size_t ended = 0, broken = 0, lost = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed)
    for (const Faults& faults : kinds) {
      const auto run = try_run(input, seed, faults);
      if (!run) {
        EXPECT_TRUE(run.error().code == Code::kBudgetExhausted ||
                    run.error().code == Code::kUnavailable)
            << describe(run.error());
        continue;
      }
      ++ended;
      broken += run->broken;
      for (const JobRun::Owner& owner : run->owners) {
        EXPECT_LE(owner.spent.epsilon, 10);
        EXPECT_LE(owner.answered, 25u);
        EXPECT_LE(owner.taken, owner.answered);
        lost += owner.answered - owner.taken;
      }
      for (const double value : run->trained.theta) EXPECT_LE(std::fabs(value), 1);
      expect_replayed(input, *run);
    }
  EXPECT_GT(ended, 20u);  // of 32
  EXPECT_GT(broken, 60u);
  EXPECT_GT(lost, 0u) << "no payment was lost, so nothing of that was tried";
}

TEST(FederatedSimulation, OwnersThatNeverComeAreDoneWithout) {
  const SimulateInput input = input_of({.owners = 10, .repeats = 0});
  const JobRun run = run_of(input, 1, {.down = {2, 7}});
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(run.owners[i].taken, i == 2 || i == 7 ? 0u : 5u);
  expect_replayed(input, run);
}

TEST(FederatedSimulation, WithTooFewSurvivorsThereIsNoModel) {
  const auto run = try_run(input_of({.owners = 10}), 1, {.down = {1, 2, 7}});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, Code::kUnavailable);
}

TEST(FederatedSimulation, WhenRepeatsAreSpentTheJobEndsWithThatReason) {
  const SimulateInput input = input_of({.owners = 3, .rounds = 8, .repeats = 0});
  size_t spent = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto run = try_run(input, seed, {.crash = .05});
    if (run || run.error().code != Code::kBudgetExhausted) continue;
    ++spent;
    EXPECT_NE(run.error().what.find("paid for all 8 aggregations"), std::string::npos);
    EXPECT_NE(run.error().hint.find("repeats"), std::string::npos);
  }
  EXPECT_GT(spent, 0u);
}

TEST(FederatedSimulation, EachOwnerIsChargedForWhatTheSumRevealsAndTheLedgersVerify) {
  const auto out = test::fresh_folder();
  const SimulateInput input = input_of({.epsilon = 1});
  const auto result = simulate(input, {.seed = 2, .out = out});
  ASSERT_TRUE(result) << describe(result.error());
  const auto plan = plan::secagg_plan(input.charter);
  for (const SimulateResult::Owner& owner : result->owners) {
    EXPECT_LE(owner.epsilon_spent, 1);
    EXPECT_GT(owner.epsilon_spent, .85);  // One repeat of six is left.
    EXPECT_EQ(owner.answers, 5u);
    const auto ledger = ledger::read(ledger_file(out, owner.name));
    ASSERT_TRUE(ledger) << describe(ledger.error());
    EXPECT_EQ(ledger->rows.size(), 1u + 5u);
    EXPECT_EQ(ledger->rows.back().event, plan->owners[0].event());
  }
}

TEST(FederatedSimulation, SkellamSharesAndFallingStepsTrainToo) {
  for (const std::string mechanism : {"gaussian", "skellam"}) {
    const SimulateInput input = input_of({.rounds = 10,
                                          .local_steps = 10,
                                          .protocol = "step = 1.0\nschedule = \"theorem4\"\n",
                                          .privacy = "mechanism = \"" + mechanism + "\"\n"});
    const auto result = simulate(input, {.seed = 1});
    ASSERT_TRUE(result) << describe(result.error());
    EXPECT_LT(result->quality.relative_fitness.mean, result->quality.by_round[0].mean);
    EXPECT_LE(result->owners[0].epsilon_spent, 10);
  }
}

TEST(FederatedSimulation, WholeOwnersAreProtectedByShortUpdates) {
  const SimulateInput input = input_of(
      {.protocol =
           "step = 0.3\nlevel = \"party\"\nmax_update_norm = 0.01\nweights = \"parties\"\n"});
  const auto plan = plan::secagg_plan(input.charter);
  ASSERT_TRUE(plan) << describe(plan.error());
  EXPECT_NEAR(plan->owners[0].update().sensitivity(), 2 * .01 / 6, 1e-9);
  const auto result = simulate(input, {.seed = 1});
  ASSERT_TRUE(result) << describe(result.error());
  EXPECT_LE(result->owners[0].epsilon_spent, 10);
}

/// Mean clamped loss of these rows.
double mean_loss(const SimulateInput& input, const std::vector<double>& theta, double bound) {
  double sum = 0, rows = 0;
  for (const OwnerData& owner : input.owners) {
    const data::Rows& all = *std::get<0>(owner.rows);
    for (size_t i = 0; i < all.size(); ++i, ++rows) {
      double score = 0;
      for (size_t j = 0; j < theta.size(); ++j) score += theta[j] * all.row(i)[j];
      sum += std::fmin(learn::Squared{}.value(score, all.label(i)), bound);
    }
  }
  return sum / rows;
}

TEST(FederatedSimulation, TheEvaluationIsOneMoreSumPaidWithItsPartOfEpsilon) {
  const auto out = test::fresh_folder();
  const SimulateInput input = input_of({.epsilon = 2, .privacy = "evaluate = 0.2\n"});
  const auto result = simulate(input, {.seed = 2, .out = out});
  ASSERT_TRUE(result) << describe(result.error());
  ASSERT_TRUE(result->quality.evaluation);
  const learn::Evaluation& found = *result->quality.evaluation;
  const auto model = learn::read_model(out / "model.json");
  ASSERT_TRUE(model) << describe(model.error());
  // Eight deviations: false alarms below 1e-14.
  EXPECT_NEAR(found.loss, mean_loss(input, model->theta, found.loss_bound), 8 * found.loss_error);
  EXPECT_LT(8 * found.loss_error, found.loss_bound) << "shows nothing";
  for (const SimulateResult::Owner& owner : result->owners) {
    EXPECT_LE(owner.epsilon_spent, 2);
    EXPECT_GT(owner.epsilon_evaluation, 0);
    const auto ledger = ledger::read(ledger_file(out, owner.name));
    ASSERT_TRUE(ledger) << describe(ledger.error());
    ASSERT_EQ(ledger->rows.size(), 1u + 5u + 1u);
    EXPECT_EQ(ledger->rows.back().kind, "evaluation");
  }
}

TEST(FederatedSimulation, AmongFaultsItIsEvaluatedAtMostAsOftenAsIsPaidForAndReplayed) {
  const SimulateInput input = input_of({.owners = 5,
                                        .rounds = 1,
                                        .repeats = 3,
                                        .secure = "survivors = 4\nthreshold = 3\n",
                                        .privacy = "evaluate = 0.5\n"});
  size_t evaluated = 0, without = 0;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const auto run = try_run(input, seed, {.drop = .02, .crash = .02, .learner = .01});
    if (!run) continue;
    ++(run->trained.evaluation ? evaluated : without);
    for (const JobRun::Owner& owner : run->owners) EXPECT_LE(owner.spent.epsilon, 10);
    expect_replayed(input, *run);
  }
  EXPECT_GT(evaluated, 5u);
  RecordProperty("without", std::to_string(without));
}

TEST(FederatedSimulation, WhatCannotBeRunIsRefusedByName) {
  const auto refused = [](const Job& job) {
    const auto result = simulate(input_of(job), {.seed = 1});
    EXPECT_FALSE(result);
    return result ? "" : result.error().where.key;
  };
  EXPECT_EQ(refused({.secure = "survivors = 5\nthreshold = 5\n"}), "secure_aggregation.threshold");
  EXPECT_EQ(refused({.protocol = "step = 0.3\nlevel = \"party\"\nmax_update_norm = 0.01\n",
                     .privacy = "evaluate = 0.1\n"}),
            "privacy.evaluate");
  EXPECT_EQ(refused({.protocol = "step = 3.0\n"}), "protocol.step");
}

}  // namespace federated_test
}  // namespace parley::sim
