// Synchronous jobs among faults. (Asynchronous ones: async_test.cc.)
#include "parley/sim/engine/engine.h"

#include <gtest/gtest.h>

#include <cmath>

#include "parley/sim/load.h"

namespace parley::sim {
namespace engine_test {

constexpr uint32_t kRounds = 6;
constexpr size_t kOwners = 4;

SimulateInput input_of(const std::string& network = "", const std::string& evaluate = "0.1") {
  std::string text =
      "[charter]\nversion = 1\nname = \"four-banks\"\nconsortium = \"banks.example\"\n"
      "[target]\ncolumn = \"int_rate\"\nbounds = [5.0, 29.0]\ncenter = 13.25\nscale = 15.75\n"
      "[[column]]\nname = \"pc\"\ncount = 10\nkind = \"number\"\nbounds = [-40.0, 40.0]\n"
      "missing = 0.0\n[model]\nloss = \"squared\"\nl2 = 2e-5\nbox = 1.0\n"
      "[protocol]\nname = \"sync\"\nrule = \"constant\"\nstep = 0.2\nstart = \"zero\"\nrounds = " +
      std::to_string(kRounds) + "\n[privacy]\nmax_grad_norm = 8.0\nevaluate = " + evaluate +
      "\n[network]\ndeadline_s = 60\n" + network;
  for (size_t i = 0; i < kOwners; ++i)
    text += "[[owner]]\nname = \"bank-" + std::to_string(i) + "\"\nrows = 200\nepsilon = 10\n";
  text += "[learner]\nname = \"central-bank\"\n";
  auto charter = charter::parse_charter(text, "test.charter.toml", ".");
  EXPECT_TRUE(charter) << (charter ? "" : describe(charter.error()));
  return *load_standin(*charter, "lending", 1);
}

JobRun run_of(const SimulateInput& input, uint64_t seed, const Faults& faults = {}) {
  const SimulateOptions options{.seed = seed};
  const auto run = run_job({input, options, 0, faults});
  EXPECT_TRUE(run) << (run ? "" : describe(run.error()));
  return run ? *run : JobRun{};
}

/// No owner beyond its budget or its rounds, and at most one answer paid and not used.
void expect_within_budget(const JobRun& run) {
  ASSERT_EQ(run.owners.size(), kOwners);
  for (const JobRun::Owner& owner : run.owners) {
    EXPECT_LE(owner.spent.epsilon, 10);
    EXPECT_LE(owner.answered, kRounds);
    EXPECT_LE(owner.taken, owner.answered);
    EXPECT_LE(owner.answered, owner.taken + 1);
  }
  for (double value : run.trained.theta) EXPECT_LE(std::fabs(value), 1);
  EXPECT_TRUE(run.trained.evaluation.has_value());
}

TEST(Engine, WithoutFaultsItIsTheSimulation) {
  const SimulateInput input = input_of();
  const auto simulated = simulate(input, {.seed = 3});
  ASSERT_TRUE(simulated) << describe(simulated.error());
  const JobRun run = run_of(input, 3);
  EXPECT_EQ(run.trained.evaluation, simulated->quality.evaluation);
  for (const JobRun::Owner& owner : run.owners) EXPECT_EQ(owner.taken, kRounds);
}

// Noise is drawn ahead, and what a crashed owner had drawn is gone: so all but crashes of owners.
TEST(Engine, WhateverHappensToMessagesAndToTheLearnerTheModelIsTheOneWithoutFaults) {
  const Faults kinds[] = {
      {.drop = .1},
      {.duplicate = .2},
      {.corrupt = .1},
      {.delay = .5},
      {.delay = .5, .reorder = .2},
      {.learner = .1},
      {.drop = .05, .duplicate = .05, .corrupt = .05, .learner = .05, .delay = .2}};
  const SimulateInput input = input_of();
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const JobRun calm = run_of(input, seed);
    uint64_t broken = 0;
    for (const Faults& faults : kinds) {
      const JobRun run = run_of(input, seed, faults);
      EXPECT_EQ(run.trained.theta, calm.trained.theta) << "seed " << seed;
      EXPECT_EQ(run.trained.evaluation, calm.trained.evaluation);
      broken += run.broken;
    }
    EXPECT_GT(broken, 10u);
  }
}

TEST(Engine, FaultsNeverCostMoreThanTheBudgetAndNothingIsStuckWithOrWithoutAQuorum) {
  const Faults kinds[] = {
      {.drop = .1},
      {.duplicate = .2},
      {.corrupt = .1},
      {.delay = .5, .reorder = .2},
      {.delay = .5, .deadline = 1},  // Many answers are late.
      {.crash = .2},
      {.learner = .1},
      {.crash = .1, .learner = .05, .delay = .5, .deadline = 1},
      {.drop = .05, .duplicate = .05, .corrupt = .05, .crash = .1, .learner = .05, .delay = .2}};
  size_t left_out = 0, resumed = 0;
  for (const char* network : {"", "quorum = 2\n"}) {
    const SimulateInput input = input_of(network);
    for (const Faults& faults : kinds)
      for (uint64_t seed = 1; seed <= 120; ++seed) {
        const JobRun run = run_of(input, seed, faults);
        expect_within_budget(run);
        resumed += run.resumed;
        for (const JobRun::Owner& owner : run.owners) left_out += owner.taken < kRounds;
      }
  }
  EXPECT_GT(left_out, 20u) << "no round was partial";
  EXPECT_GT(resumed, 20u);
}

TEST(Engine, WhereAQuorumIsEnoughAJobDoesWithoutAnOwnerThatIsDown) {
  const Faults down{.down = {2}};
  const JobRun run = run_of(input_of("quorum = 3\n"), 7, down);
  expect_within_budget(run);
  EXPECT_EQ(run.owners[2].answered, 0u);
  EXPECT_EQ(run.owners[0].taken, kRounds);
  const SimulateInput all = input_of();
  const SimulateOptions options{.seed = 7};
  const auto stuck = run_job({all, options, 0, {.vanish = 1, .down = {0, 1, 2, 3}}});
  ASSERT_FALSE(stuck);
  EXPECT_EQ(stuck.error().code, Code::kUnavailable);
}

// Three of four owners, weights scaled to add up to 1: with hardly any noise about the same model.
TEST(Engine, APartialRoundIsAsLongAStepAsAWholeOne) {
  const SimulateInput input = input_of("quorum = 3\n");
  const double with = run_of(input, 7).trained.evaluation->loss;
  const double without = run_of(input, 7, {.down = {2}}).trained.evaluation->loss;
  EXPECT_LT(std::fabs(with - without), .25 * with) << with << " and " << without;
}

}  // namespace engine_test
}  // namespace parley::sim
