#include "parley/sim/owners/gossip.h"

#include <gtest/gtest.h>

#include "parley/base/files.h"
#include "parley/ledger/read.h"
#include "parley/plan/learner/jobs.h"
#include "parley/plan/learner/sync_plan.h"
#include "support/ledgers.h"
#include "support/owner_charters.h"

namespace parley::sim {
namespace gossip_test {

using test::OwnerCharter;

const char kLine[] = "graph = [['bank-a', 'bank-b'], ['bank-b', 'bank-c'], ['bank-c', 'bank-d']]\n";
const char kRing[] =
    "graph = [['bank-a', 'bank-b'], ['bank-b', 'bank-c'], ['bank-c', 'bank-d'], ['bank-a', "
    "'bank-d']]\n";

OwnerCharter joined(const std::string& graph, OwnerCharter charter = {}) {
  charter.protocol += graph;
  charter.learner.clear();
  return charter;
}

OwnerCharter central(OwnerCharter charter = {}) {
  charter.learner = "[learner]\nname = \"central-bank\"\n";
  return charter;
}

Result<GossipRun> gossip(const SimulateInput& input, uint64_t seed, const Faults& faults = {}) {
  const SimulateOptions options{.seed = seed};
  const auto plan = plan::sync_plan(plan::joint_job(input.charter), input.pilot.get());
  EXPECT_TRUE(plan) << (plan ? "" : describe(plan.error()));
  return run_gossip({.input = input, .options = options, .plan = *plan, .faults = faults});
}

// Without a central learner every owner ends with the model it would have got from one: the same
// noise, the same steps, the same bits, whatever the graph.
TEST(Gossip, AllOwnersComeToTheModelOfACentralLearnerOnAnyGraph) {
  const auto folder = test::fresh_folder();
  OwnerCharter evaluated;
  evaluated.privacy = "max_grad_norm = 8.0\nevaluate = 0.1\n";
  const auto star = simulate(central(evaluated).input(), {.seed = 3, .out = folder});
  ASSERT_TRUE(star) << describe(star.error());
  for (const char* graph : {kLine, kRing}) {
    const SimulateInput input = joined(graph, evaluated).input();
    const auto result = simulate(input, {.seed = 3, .out = folder});
    ASSERT_TRUE(result) << describe(result.error());
    EXPECT_EQ(result->quality.relative_fitness.mean, star->quality.relative_fitness.mean);
    EXPECT_EQ(result->quality.evaluation->loss, star->quality.evaluation->loss);
    for (size_t i = 0; i < 4; ++i)
      EXPECT_EQ(result->owners[i].epsilon_spent, star->owners[i].epsilon_spent)
          << "nobody pays more because all learn";
    const auto run = gossip(input, 3);
    ASSERT_TRUE(run);
    for (const auto& model : run->models) EXPECT_EQ(model, run->models[0]);
  }
}

TEST(Gossip, RunsWithEveryLossAndBothMechanisms) {
  using charter::Loss;
  for (Loss loss : {Loss::kSquared, Loss::kHinge, Loss::kLogistic, Loss::kHuber})
    for (const char* mechanism : {"laplace", "gaussian"}) {
      OwnerCharter charter;
      charter.privacy += "mechanism = \"" + std::string(mechanism) + "\"\n";
      if (std::string(mechanism) == "gaussian") charter.owner_keys = "delta = 1e-6\n";
      SimulateInput input = joined(kLine, charter).input();
      input.charter.model.loss = loss;
      const auto run = gossip(input, 1);
      ASSERT_TRUE(run) << name_of(loss) << mechanism;
      for (double spent : run->ledgers) EXPECT_LE(spent, 10);
    }
}

const Faults kKinds[] = {{.drop = .2},
                         {.duplicate = .3},
                         {.corrupt = .2},
                         {.delay = .5},
                         {.delay = .5, .reorder = .3},
                         {.drop = .1, .duplicate = .1, .corrupt = .1, .delay = .3, .reorder = .1}};

// As long as nobody crashes the model is that of a run without faults, bit for bit.
TEST(Gossip, LostLateDoubledAndDamagedMessagesChangeNothing) {
  for (const char* graph : {kLine, kRing}) {
    const SimulateInput input = joined(graph).input();
    for (uint64_t seed = 1; seed <= 8; ++seed) {
      const auto calm = gossip(input, seed);
      for (const Faults& faults : kKinds) {
        const auto run = gossip(input, seed, faults);
        ASSERT_TRUE(run) << describe(run.error());
        for (const auto& model : run->models) EXPECT_EQ(model, calm->models[0]);
        for (size_t i = 0; i < 4; ++i) EXPECT_EQ(run->answers[i], 5u);
        EXPECT_EQ(run->ledgers, calm->ledgers);
      }
    }
  }
}

// A crash loses noise that was drawn ahead, so the model may be another; but all have the same, and
// nobody has paid more than its budget or for more answers than the charter's.
TEST(Gossip, AfterCrashesAllAgreeAndNobodyIsOverItsBudget) {
  uint64_t crashes = 0;
  for (const char* graph : {kLine, kRing}) {
    const SimulateInput input = joined(graph).input();
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      Faults faults = kKinds[seed % 6];
      faults.crash = .05;
      const auto run = gossip(input, seed, faults);
      ASSERT_TRUE(run) << describe(run.error());
      crashes += run->crashes;
      for (const auto& model : run->models) EXPECT_EQ(model, run->models[0]);
      for (size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(run->answers[i], 5u);
        EXPECT_LE(run->ledgers[i], 10);
      }
    }
  }
  EXPECT_GT(crashes, 50u);
}

TEST(Gossip, LedgersOfAllOwnersAreLeftAndVerify) {
  const auto folder = test::fresh_folder();
  const auto result = simulate(joined(kRing).input(), {.seed = 7, .runs = 2, .out = folder});
  ASSERT_TRUE(result) << describe(result.error());
  for (const auto& owner : result->owners) {
    const auto contents = ledger::read(folder / "simulated" / owner.name / "ledger.db");
    ASSERT_TRUE(contents) << describe(contents.error());
    EXPECT_EQ(contents->rows.size(), 6u) << "the budget and five answers";
    EXPECT_EQ(contents->datasets[0].spent.pure, owner.epsilon_spent);
  }
  EXPECT_TRUE(std::filesystem::exists(result->model));
}

TEST(GossipCharter, MustJoinAllOwnersAndHaveNoLearner) {
  const auto error_of = [](OwnerCharter charter) {
    const auto parsed = charter.parsed();
    EXPECT_FALSE(parsed);
    return parsed ? std::string() : describe(parsed.error());
  };
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(error_of(joined("graph = [['bank-a', 'bank-b'], ['bank-c', 'bank-d']]\n")),
      "does not join \"bank-c\"");
  has(error_of(joined("graph = [['bank-a', 'bank-x']]\n")), "\"bank-x\", which is no owner");
  has(error_of(joined("graph = [['bank-a', 'bank-b'], ['bank-b', 'bank-a']]\n")), "twice");
  has(error_of(joined("graph = ['bank-a', 'bank-b']\n")), "graph");
  has(error_of(joined("graph = [['bank-a', 'bank-a']]\n")), "graph");
  OwnerCharter both = joined(kLine);
  both.learner = "[learner]\nname = \"central-bank\"\n";
  has(error_of(both), "every owner learns");
  OwnerCharter copies = joined(kLine);
  copies.protocol += "copies = true\nowner_learner = \"own_noise\"\n";
  has(error_of(copies), "graph");
}

TEST(GossipCharter, TheOrderOfEdgesMeansNothing) {
  EXPECT_EQ(joined("graph = [['bank-d', 'bank-c'], ['bank-b', 'bank-a'], ['bank-b', 'bank-c']]\n")
                .parsed()
                ->hash,
            joined(kLine).parsed()->hash);
  EXPECT_NE(joined(kRing).parsed()->hash, joined(kLine).parsed()->hash);
}

}  // namespace gossip_test
}  // namespace parley::sim
