#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "parley/base/files.h"
#include "parley/ledger/read.h"
#include "parley/plan/learner/async_plan.h"
#include "parley/sim/engine/engine.h"
#include "parley/sim/load.h"
#include "parley/sim/poisson_clocks.h"
#include "support/ledgers.h"

namespace parley::sim {
namespace async_test {

using charter::Charter;

/// Small owners on stand-in data.
std::string charter_text(size_t owners, const std::string& protocol, double epsilon = 10,
                         const std::string& owner_keys = "") {
  std::string text =
      "[charter]\nversion = 1\nname = \"many-banks\"\nconsortium = \"banks.example\"\n"
      "[pilot]\nfile = \"pilot.csv\"\nsha256 = \"" +
      std::string(64, '0') +
      "\"\nrows = 1000\n"
      "[target]\ncolumn = \"int_rate\"\nbounds = [5.0, 29.0]\ncenter = 13.25\nscale = 15.75\n";
  text +=
      "[[column]]\nname = \"pc\"\ncount = 10\nkind = \"number\"\nbounds = [-40.0, 40.0]\n"
      "missing = 0.0\n[model]\nloss = \"squared\"\nl2 = 2e-5\nbox = 1.0\n"
      "[protocol]\nname = \"async\"\n" +
      protocol + "[privacy]\nmax_grad_norm = 8.0\nevaluate = 0.0\n";
  for (size_t i = 0; i < owners; ++i)
    text += "[[owner]]\nname = \"bank-" + std::to_string(i) +
            "\"\nrows = 200\nepsilon = " + std::to_string(epsilon) + "\n" + owner_keys;
  return text + "[learner]\nname = \"central-bank\"\n";
}

Charter charter_of(const std::string& text) {
  auto parsed = charter::parse_charter(text, "test.charter.toml", ".");
  EXPECT_TRUE(parsed) << (parsed ? "" : describe(parsed.error()));
  return *parsed;
}

SimulateInput input_of(const std::string& text) {
  return *load_standin(charter_of(text), "lending", 1);
}

const char kProtocol[] = "rounds = 60\nanswers = 12\nstep = 0.1\n";

JobRun run_of(const SimulateInput& input, uint64_t seed, const Faults& faults = {}) {
  const SimulateOptions options{.seed = seed};
  const auto run = run_job({input, options, 0, faults});
  EXPECT_TRUE(run) << (run ? "" : describe(run.error()));
  return *run;
}

TEST(SimulatedAsync, TheSameSeedGivesTheSameModelFaultsIncluded) {
  const SimulateInput input = input_of(charter_text(8, kProtocol));
  const Faults faults{.drop = .05, .duplicate = .05, .crash = .05, .delay = .1};
  const JobRun run = run_of(input, 3, faults);
  EXPECT_GT(run.broken, 0u);
  EXPECT_EQ(run.trained.theta, run_of(input, 3, faults).trained.theta);
  EXPECT_NE(run.trained.theta, run_of(input, 4, faults).trained.theta);
}

// No owner beyond its answers or its budget, nothing stuck, and everything that was taken was paid
// for; whatever happens to messages and processes, on any of many seeds.
TEST(SimulatedAsync, FaultsNeverCostMoreThanTheBudgetAndNothingIsStuck) {
  const Faults kinds[] = {
      {.drop = .1},
      {.duplicate = .2},
      {.corrupt = .1},
      {.delay = .5},
      {.delay = .5, .reorder = .2},
      {.crash = .2},
      {.delay = .5, .deadline = 1},  // Many answers are late.
      {.learner = .05},
      {.crash = .1, .learner = .03, .delay = .5, .deadline = 1},
      {.drop = .05, .duplicate = .05, .corrupt = .05, .crash = .1, .learner = .02, .delay = .2}};
  for (const char* contact : {"owner_requests", "broadcast"}) {
    const SimulateInput input =
        input_of(charter_text(8, std::string(kProtocol) + "contact = \"" + contact + "\"\n"));
    for (const Faults& faults : kinds)
      for (uint64_t seed = 1; seed <= 5; ++seed) {
        const JobRun run = run_of(input, seed, faults);
        uint64_t taken = 0, answered = 0;
        for (const JobRun::Owner& owner : run.owners) {
          EXPECT_LE(owner.spent.epsilon, 10);
          EXPECT_LE(owner.answered, 12u);
          EXPECT_LE(owner.taken, owner.answered);
          taken += owner.taken, answered += owner.answered;
        }
        EXPECT_EQ(taken, 60u);
        EXPECT_LE(answered, 60u + 8) << "at most one answer of each owner was not used";
        for (double value : run.trained.theta) EXPECT_LE(std::fabs(value), 1);
      }
  }
}

// Everyone is asked at the end, however often it came; who is away when the time is up is left out.
TEST(SimulatedAsync, TheModelIsEvaluatedAtTheEndAndPaidFor) {
  std::string text = charter_text(8, kProtocol);
  text.replace(text.find("evaluate = 0.0"), 14, "evaluate = 0.1");
  const SimulateInput input = input_of(text);
  const auto simulated = simulate(input, {.seed = 2});
  ASSERT_TRUE(simulated && simulated->quality.evaluation);
  const double exact = simulated->quality.fitness.mean;
  EXPECT_LT(std::fabs(simulated->quality.evaluation->loss - exact),
            6 * simulated->quality.evaluation->loss_error)
      << "Laplace noise of 8 owners, beyond with probability below 1e-6";
  for (const auto& owner : simulated->owners) {
    EXPECT_NEAR(owner.epsilon_evaluation, 1, 1e-6);
    EXPECT_LE(owner.epsilon_spent, 10);
  }
  size_t stuck = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const Faults faults{.drop = .05, .crash = .1, .vanish = .15, .learner = .02, .delay = .2};
    const SimulateOptions options{.seed = seed};
    const auto run = run_job({input, options, 0, faults});
    EXPECT_TRUE(run || run.error().code == Code::kUnavailable);
    stuck += !run;
    if (!run) continue;
    EXPECT_TRUE(run->trained.evaluation.has_value());
    for (const JobRun::Owner& owner : run->owners) EXPECT_LE(owner.spent.epsilon, 10);
  }
  EXPECT_LT(stuck, 20u) << "there is room for some that vanish";
}

// Owners that never return leave their share to the others, as long as those have answers left.
TEST(SimulatedAsync, OwnersThatVanishForEverAreDoneWithout) {
  const SimulateInput room = input_of(charter_text(12, "rounds = 40\nanswers = 40\nstep = 0.1\n"));
  const SimulateInput none = input_of(charter_text(12, "rounds = 48\nstep = 0.1\n"));
  const Faults faults{.crash = .05, .vanish = .5};
  size_t stuck = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    run_of(room, seed, faults);
    const SimulateOptions options{.seed = seed};
    const auto run = run_job({none, options, 0, faults});
    EXPECT_TRUE(run || run.error().code == Code::kUnavailable);
    stuck += !run;
  }
  EXPECT_GT(stuck, 0u) << "without room somebody is missed, and the job says so";
}

TEST(SimulatedAsync, SimulateLeavesALedgerOfEveryOwnerThatVerifies) {
  const auto folder = test::fresh_folder();
  const SimulateInput input = input_of(charter_text(8, kProtocol));
  const auto result = simulate(input, {.seed = 7, .runs = 3, .out = folder});
  ASSERT_TRUE(result) << describe(result.error());
  uint32_t answers = 0;
  for (const auto& owner : result->owners) {
    const auto contents = ledger::read(folder / "simulated" / owner.name / "ledger.db");
    ASSERT_TRUE(contents) << describe(contents.error());
    EXPECT_EQ(contents->rows.size(), 1 + owner.answers) << "the budget and its answers";
    EXPECT_EQ(contents->datasets[0].spent.pure, owner.epsilon_spent);
    answers += owner.answers;
  }
  EXPECT_EQ(answers, 60u);
  EXPECT_EQ(result->quality.by_round.size(), 8u) << "after every 8 rounds, and at the end";
  const std::string model = *read_file(folder / "model.json");
  ASSERT_TRUE(simulate(input, {.seed = 7, .threads = 2, .out = folder}));
  EXPECT_EQ(*read_file(folder / "model.json"), model);
}

// With a quota everyone has exactly its share, and noise that fits it (theory (D10)).
TEST(SimulatedAsync, AQuotaMakesEveryOwnerAnswerAsOften) {
  const SimulateInput input = input_of(charter_text(8, "rounds = 40\nstep = 0.1\n"));
  for (const JobRun::Owner& owner : run_of(input, 5).owners) {
    EXPECT_EQ(owner.taken, 5u);
    EXPECT_GT(owner.spent.epsilon, 9.99);
    EXPECT_LE(owner.spent.epsilon, 10);
  }
}

TEST(SimulatedAsync, AStepThatDivergesIsRefusedBeforeTheFirstAnswer) {
  const SimulateInput input = input_of(charter_text(8, "rounds = 40\nstep = 0.1\n"));
  auto plan = plan::async_plan(input.charter, input.pilot.get());
  ASSERT_TRUE(plan) << describe(plan.error());
  // The pilot's features are whitened, so its curvature is about 2; by bounds alone it is 32,000.
  const auto refused = [&](const char* protocol, bool pilot) {
    const SimulateInput long_steps = input_of(charter_text(8, protocol));
    return plan::async_plan(long_steps.charter, pilot ? long_steps.pilot.get() : nullptr);
  };
  const auto error = refused("rounds = 40\nstep = 1.2\n", true);
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().code, Code::kInvalid);
  EXPECT_EQ(error.error().where.key, "protocol.step");
  EXPECT_NE(error.error().hint.find("Take step = 0."), std::string::npos) << error.error().hint;
  EXPECT_FALSE(refused("rounds = 40\nstep = 0.1\n", false));
  EXPECT_TRUE(refused("rounds = 40\nstep = 0.00005\n", false));
  const SimulateInput steep = input_of(charter_text(8, "rounds = 40\nstep = 1.2\n"));
  EXPECT_FALSE(simulate(steep, {})) << "nobody was asked";
}

TEST(SimulatedAsync, NoiseFallsWithTheCapAndTheTailAverageFallsFurther) {
  const auto reached = [](const std::string& protocol) {
    const SimulateInput input = input_of(charter_text(10, "step = 0.2\n" + protocol, 10));
    return simulate(input, {.seed = 2, .runs = 10})->quality.relative_fitness.mean;
  };
  const double literal = reached("rounds = 200\nanswers = 200\noutput = \"last\"\n");
  const double cap = reached("rounds = 200\noutput = \"last\"\n");
  const double tail = reached("rounds = 200\noutput = \"tail\"\n");
  EXPECT_GT(literal, 10 * cap);
  EXPECT_GT(cap, 2 * tail);
}

// S5: who comes is uniform, gaps are exponential. Both at p > 1e-6 each, so a fresh seed fails with
// probability 2e-6; this seed is fixed.
TEST(SimulatedAsync, GoldenS5ClocksAreIndependentAndExponential) {
  constexpr size_t kOwners = 86, kTicks = 100'000;
  PoissonClocks clocks(1, 0);
  std::vector<double> next, gaps;
  std::vector<double> counts(kOwners);
  for (size_t i = 0; i < kOwners; ++i) {
    clocks.add(1);
    next.push_back(clocks.gap(i));
  }
  for (size_t k = 0; k < kTicks; ++k) {
    const size_t who = size_t(std::min_element(next.begin(), next.end()) - next.begin());
    gaps.push_back(clocks.gap(who));
    next[who] += gaps.back();
    ++counts[who];
  }
  double chi_square = 0;
  const double expected = double(kTicks) / kOwners;
  for (double count : counts) chi_square += (count - expected) * (count - expected) / expected;
  EXPECT_LT(chi_square, 160.7) << "the 1 - 1e-6 quantile with 85 degrees of freedom";
  std::sort(gaps.begin(), gaps.end());
  const auto distance = [&](double rate) {
    double largest = 0;
    for (size_t k = 0; k < kTicks; ++k) {
      const double p = 1 - std::exp(-rate * gaps[k]);
      largest = std::fmax(largest, std::fmax(p - double(k) / kTicks, double(k + 1) / kTicks - p));
    }
    return largest;
  };
  const double bound = std::sqrt(std::log(2 / 1e-6) / (2 * kTicks));  // Massart 1990
  EXPECT_LT(distance(1), bound);
  EXPECT_GT(distance(1.05), bound) << "the test has lost its power";
}

// An owner that comes three times as often steps a third as far: nobody is favoured.
TEST(SimulatedAsync, DeclaredRatesChangeWhoComesAndNotWhatIsLearnt) {
  std::string text = charter_text(
      6, "rounds = 600\nanswers = 600\nstep = 0.02\noutput = \"tail\"\nrates = \"declared\"\n", 1e4,
      "rate = 1.0\n");
  const size_t first = text.find("rate = 1.0\n", text.find("[[owner]]"));
  text.replace(first, 11, "rate = 3.0\n");
  const SimulateInput input = input_of(text);
  const JobRun run = run_of(input, 9);
  EXPECT_GT(run.owners[0].taken, 600 * 3 / 8 - 75) << "6 standard deviations";
  EXPECT_LT(run.owners[0].taken, 600 * 3 / 8 + 75);
  const auto result = simulate(input, {.seed = 9});
  ASSERT_TRUE(result);
  EXPECT_LT(result->quality.relative_fitness.mean, .1);
}

}  // namespace async_test
}  // namespace parley::sim
