// The synchronous protocol under secure aggregation, with every party in one process.
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
namespace secure_sync_test {

struct Job {
  std::vector<int> rows{100, 400, 250, 50};
  double epsilon = 10;
  std::string protocol = "rule = \"constant\"\nstep = 0.3\naverage = \"none\"\n";
  std::string model = "loss = \"squared\"\n", secure{}, privacy{};
};

/// Of four owners none can be done without: three could be shown two lists.
const std::vector<int> kFive{100, 400, 250, 50, 80};

SimulateInput input_of(const Job& job) {
  std::string text =
      "[charter]\nversion = 1\nname = \"banks\"\nconsortium = \"banks.example\"\n"
      "[target]\ncolumn = \"int_rate\"\nbounds = [5.0, 29.0]\ncenter = 13.25\nscale = 15.75\n"
      "[[column]]\nname = \"pc\"\ncount = 10\nkind = \"number\"\nbounds = [-40.0, 40.0]\n"
      "missing = 0.0\n[model]\nl2 = 1e-2\nbox = 1.0\n" +
      job.model + "[protocol]\nname = \"sync\"\nrounds = 8\n" + job.protocol +
      "[privacy]\nmax_grad_norm = 2.0\ndelta = 1e-6\n" + job.privacy +
      "[network]\ndeadline_s = 60\n[secure_aggregation]\n" + job.secure;
  for (size_t i = 0; i < job.rows.size(); ++i)
    text += "[[owner]]\nname = \"bank-" + std::to_string(i) +
            "\"\nrows = " + std::to_string(job.rows[i]) +
            "\nepsilon = " + std::to_string(job.epsilon) + "\n";
  text += "[learner]\nname = \"registry\"\n";
  auto charter = charter::parse_charter(text, "test.charter.toml", ".");
  EXPECT_TRUE(charter) << (charter ? "" : describe(charter.error()));
  return as_trained(*load_standin(*charter, "lending", 1));
}

JobRun run_of(const SimulateInput& input, uint64_t seed, const Faults& faults = {}) {
  const SimulateOptions options{.seed = seed};
  const auto run = run_job({input, options, 0, faults});
  EXPECT_TRUE(run) << (run ? "" : describe(run.error()));
  return run ? *run : JobRun{};
}

/// On the rows of all owners but `without`, noiseless.
std::vector<double> plain_descent(const SimulateInput& input, size_t without = 99) {
  const charter::Charter& charter = input.charter;
  data::Rows all(charter.schema.features().size());
  for (size_t i = 0; i < input.owners.size(); ++i) {
    const data::Rows& rows = *std::get<0>(input.owners[i].rows);
    for (size_t k = 0; k < rows.size() && i != without; ++k) all.add(rows.row(k), rows.label(k));
  }
  std::vector<double> theta(all.columns());
  for (int64_t round = 0; round < charter.protocol.rounds; ++round) {
    const auto mean = learn::mean_gradient(charter::loss_of(charter.model), all, theta,
                                           learn::ClipIn::kL2, charter.privacy.max_grad_norm);
    for (size_t j = 0; j < theta.size(); ++j)
      theta[j] -= charter.protocol.step * (mean[j] + charter.model.l2 * theta[j]);
  }
  return theta;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (size_t j = 0; j < a.size(); ++j) most = std::fmax(most, std::fabs(a[j] - b[j]));
  return most;
}

/// Steps of length .3 along means whose noise is that of all four shares: false alarms below 1e-12.
double noise_of(const plan::SecaggPlan& plan) {
  const auto& share = std::get<privacy::GaussianShare>(plan.owners[0].mechanism);
  return .3 * 8 * std::sqrt(8 * 4 * share.variance()) * plan.unit;
}

TEST(SecureSync, IsGradientDescentOnAllRecords) {
  const SimulateInput input = input_of({.epsilon = 10'000});
  const auto plan = plan::secagg_plan(input.charter);
  ASSERT_TRUE(plan) << describe(plan.error());
  const auto plain = plain_descent(input);
  EXPECT_LT(distance(run_of(input, 1).trained.theta, plain), noise_of(*plan));
  EXPECT_LT(50 * noise_of(*plan), distance(plain, std::vector<double>(plain.size())));
}

TEST(SecureSync, WithoutAnOwnerItIsThatOnTheOthersRecords) {
  const SimulateInput input =
      input_of({.rows = kFive, .epsilon = 10'000, .secure = "survivors = 4\nthreshold = 3\n"});
  const auto plan = plan::secagg_plan(input.charter);
  const auto others = plain_descent(input, 1);
  const JobRun run = run_of(input, 1, {.down = {1}});
  EXPECT_EQ(run.owners[1].taken, 0u);
  EXPECT_LT(distance(run.trained.theta, others), 2 * noise_of(*plan));  // Half the rows.
  EXPECT_GT(distance(plain_descent(input), others), 4 * noise_of(*plan)) << "shows nothing";
}

// The same promise costs less noise than if every owner protected itself: by n / max n_i and the
// root of (s - c) in the mean.
TEST(SecureSync, SharesAreOfOneNoiseForAllRecordsTogether) {
  const SimulateInput input = input_of({.secure = "repeats = 0\n"});
  const auto plan = plan::secagg_plan(input.charter);
  ASSERT_TRUE(plan);
  const double sensitivity = plan->owners[0].sensitivity();
  EXPECT_NEAR(sensitivity * plan->gamma, 2 * 2.0, 1e-3);
  for (const auto& owner : plan->owners) EXPECT_EQ(owner.sensitivity(), sensitivity);
  const double rho = privacy::Budget::make(privacy::Epsilon{10.0}, 1e-6, 0)->rho_max;
  const auto& share = std::get<privacy::GaussianShare>(plan->owners[0].mechanism);
  EXPECT_NEAR(share.variance() * 3, 8 * sensitivity * sensitivity / (2 * rho),
              1e-6 * share.variance());
}

TEST(SecureSync, EachOwnerIsChargedForWhatTheSumRevealsAndTheModelIsKeptWithThat) {
  const auto out = test::fresh_folder();
  const SimulateInput input = input_of({.epsilon = 1});
  const auto result = simulate(input, {.seed = 2, .out = out});
  ASSERT_TRUE(result) << describe(result.error());
  const auto plan = plan::secagg_plan(input.charter);
  for (const SimulateResult::Owner& owner : result->owners) {
    EXPECT_LE(owner.epsilon_spent, 1);
    EXPECT_GT(owner.epsilon_spent, .9);  // One repeat of nine is left.
    const auto ledger = ledger::read(ledger_file(out, owner.name));
    ASSERT_TRUE(ledger) << describe(ledger.error());
    EXPECT_EQ(ledger->rows.size(), 1u + 8u);
    EXPECT_EQ(ledger->rows.back().event, plan->owners[0].event());
  }
}

TEST(SecureSync, AmongFaultsTheJournalGivesTheModelAgain) {
  const SimulateInput input =
      input_of({.rows = kFive, .secure = "survivors = 4\nthreshold = 3\nrepeats = 20\n"});
  const JobRun run = run_of(input, 5, {.drop = .02, .crash = .02, .learner = .01, .delay = .1});
  EXPECT_GT(run.broken, 0u);
  const auto learner = protocol::make_learner(input.charter, nullptr, protocol::Receipts::kSigned);
  ASSERT_TRUE(learner);
  const wire::Transcript journal{.entries = run.journal, .notes = run.notes};
  const auto taken = journal.in_order(
      [&](const wire::Entry& entry) { return (*learner)->replay(entry.owner, entry.answer); },
      [&](const wire::Note& note) { return (*learner)->replay(note); });
  ASSERT_TRUE(taken) << describe(taken.error());
  EXPECT_TRUE((*learner)->finished());
  EXPECT_EQ((*learner)->trained().theta, run.trained.theta);
}

TEST(SecureSync, EveryRuleThatAsksForGradientsTrains) {
  for (const std::string rule :
       {"rule = \"algorithm1\"\nstep = 9.0\n", "rule = \"algorithm2\"\nstep = 0.5\n",
        "rule = \"strongly_convex\"\nstep = 0.01\n",
        "rule = \"constant\"\nstep = 0.2\nmomentum = 0.5\naverage = \"tail\"\n"}) {
    const auto result = simulate(input_of({.protocol = rule}), {.seed = 1});
    ASSERT_TRUE(result) << rule << describe(result.error());
    EXPECT_LT(result->quality.relative_fitness.mean, result->quality.by_round[0].mean) << rule;
  }
}

TEST(SecureSync, WhatCannotBeRunIsRefusedByName) {
  const auto refused = [](const Job& job) {
    const auto result = simulate(input_of(job), {.seed = 1});
    EXPECT_FALSE(result);
    return result ? "" : result.error().where.key;
  };
  EXPECT_EQ(refused({.privacy = "calibration = \"paper\"\n"}), "privacy.calibration");
}

}  // namespace secure_sync_test
}  // namespace parley::sim
