// Owners of columns without a dealer, in the simulator.
#include <gtest/gtest.h>

#include "parley/data/sources/table.h"
#include "parley/learn/fitness.h"
#include "parley/plan/vertical_terms.h"
#include "parley/sim/columns.h"
#include "parley/sim/engine/engine.h"
#include "parley/sim/outcome.h"
#include "support/cells_charter.h"

namespace parley::sim {
namespace cells_test {

constexpr size_t kRecords = 400;

SimulateInput input_of(const std::string& text) {
  SimulateInput input{.charter = *charter::parse_charter(text, "cells.toml", {}),
                      .owners = {},
                      .pilot = nullptr,
                      .policies = {}};
  for (size_t m = 0; m < input.charter.owners.size(); ++m)
    input.owners.push_back({test::cells_rows(m, kRecords), "test", Hash{1}});
  return input;
}

SimulateInput some_input(double epsilon) {
  return input_of(test::cells_charter(epsilon, kRecords));
}

void expect_model_of_one_place(const SimulateInput& input, size_t features) {
  const SimulateOptions options{.seed = 3};
  const auto simulation = simulation_of_columns(input, options, nullptr);
  ASSERT_TRUE(simulation) << describe(simulation.error());
  const auto run = simulation->run(simulation->reference, 0);
  ASSERT_TRUE(run) << describe(run.error());
  ASSERT_EQ(run->model.size(), features);
  const double best = simulation->reference.pooled.at(simulation->reference.optimum.theta);
  const double zero = simulation->reference.pooled.at(std::vector<double>(features));
  const double found = simulation->reference.pooled.at(run->model);
  EXPECT_LT(best, .6 * zero) << "there is something to learn";
  EXPECT_LT(found - best, .02 * (zero - best));
  for (const auto& owner : run->owners) EXPECT_LE(owner.spent.epsilon, 1e4);
}

TEST(CellsInTheSimulator, WithNextToNoNoiseTheModelIsThatOfOnePlace) {
  expect_model_of_one_place(some_input(1e4), 8);
  expect_model_of_one_place(input_of(test::three_cells_charter(1e4, kRecords)), 12);
}

/// Tables whose label is high where exactly one of job = a and sex = f holds: no sum of columns
/// tells.
SimulateInput either_or(const std::string& charter) {
  SimulateInput input{.charter = *charter::parse_charter(charter, "cells.toml", {}),
                      .owners = {},
                      .pilot = nullptr,
                      .policies = {}};
  test::SeededEntropy entropy(5, "people");
  std::vector<std::string> job, sex, home, income;
  std::vector<double> age, hours;
  for (size_t i = 0; i < kRecords; ++i) {
    job.push_back(entropy.word() % 2 ? "a" : "b");
    sex.push_back(entropy.word() % 2 ? "f" : "m");
    home.push_back(entropy.word() % 2 ? "own" : "rent");
    age.push_back(20 + double(entropy.word() % 61));
    hours.push_back(double(entropy.word() % 101));
    income.push_back((job.back() == "a") != (sex.back() == "f") ? "high" : "low");
  }
  const Table tables[] = {{{{"job", job}, {"age", age}, {"sex", sex}, {"income", income}}},
                          {{{"hours", hours}, {"home", home}}}};
  for (size_t m = 0; m < 2; ++m) {
    auto read = data::read_table(tables[m], plan::part_schema(input.charter, m), {}, m == 0);
    EXPECT_TRUE(read) << (read ? "" : describe(read.error()));
    input.owners.push_back(
        {std::make_shared<const data::Rows>(std::move(read->rows)), "test", Hash{1}});
  }
  return input;
}

/// How much of the loss of no model is left, and of what the exact numbers would leave.
std::pair<double, double> left_of(const SimulateInput& input) {
  const SimulateOptions options{.seed = 3};
  const auto simulation = simulation_of_columns(input, options, nullptr);
  EXPECT_TRUE(simulation) << (simulation ? "" : describe(simulation.error()));
  const auto run = simulation->run(simulation->reference, 0);
  EXPECT_TRUE(run) << (run ? "" : describe(run.error()));
  const auto& pooled = simulation->reference.pooled;
  const double zero = pooled.at(std::vector<double>(run->model.size()));
  return {pooled.at(run->model) / zero, pooled.at(simulation->reference.optimum.theta) / zero};
}

TEST(CellsInTheSimulator, AProductLearnsWhatNoSumOfColumnsTells) {
  const std::string with = test::products_charter(1e4, kRecords);
  std::string without = with.substr(0, with.find("[[column]]\nname = \"both\""));
  const std::string listed = ", \"both\"";
  without.erase(without.find(listed), listed.size());
  EXPECT_GT(left_of(either_or(without)).second, .9);
  const auto [found, best] = left_of(either_or(with));
  EXPECT_LT(best, .3);
  EXPECT_LT(found, best + .05);
}

TEST(CellsInTheSimulator, PaysOnceAndReplaysFromItsSeed) {
  const SimulateInput input = some_input(1);
  const auto play = [&](uint64_t seed) {
    const SimulateOptions options{.seed = seed};
    return run_job({.input = input, .options = options});
  };
  const auto one = play(3), again = play(3), other = play(4);
  ASSERT_TRUE(one && again && other) << describe(one.error());
  EXPECT_EQ(one->parts, again->parts);
  EXPECT_NE(one->parts, other->parts);
  for (const auto& owner : one->owners) {
    EXPECT_EQ(owner.answered, 1u);
    EXPECT_LE(owner.spent.epsilon, 1);
    EXPECT_GT(owner.spent.epsilon, .99);
  }
}

/// Whatever breaks: the model without faults, or the reason that an interrupted test gives.
void expect_model_or_reason(const SimulateInput& input, uint64_t runs, double rate,
                            size_t finished_least) {
  const auto rounds = static_cast<uint32_t>(input.charter.protocol.rounds);
  size_t finished = 0;
  for (uint64_t seed = 1; seed <= runs; ++seed) {
    const SimulateOptions options{.seed = seed};
    const auto run = run_job({.input = input,
                              .options = options,
                              .faults = {.drop = rate, .crash = rate, .learner = rate}});
    if (run) {
      ++finished;
      for (const auto& owner : run->owners) EXPECT_EQ(owner.answered, rounds);
    } else {
      const std::string why = run.error().what;
      EXPECT_TRUE(why.find("broke off before its verdict") != std::string::npos ||
                  why.find("have not kept the same session") != std::string::npos)
          << why;
    }
  }
  EXPECT_GE(finished, finished_least);
}

TEST(CellsInTheSimulator, AmongFaultsTheSameModelOrAReason) {
  expect_model_or_reason(some_input(1), 30, .01, 6);
}
TEST(CellsInTheSimulator, OfThreeOwnersAmongFaultsTheSameModelOrAReason) {
  expect_model_or_reason(input_of(test::three_cells_charter(1, kRecords)), 20, .002, 4);
}

// In rounds.

constexpr const char* kRounds = "rule = \"gradients\"\nrounds = 8\nstep = 0.5\nmomentum = 0.5\n";

TEST(CellsInTheSimulator, RoundsArePaidOneByOneAndReplayFromTheirSeed) {
  for (const std::string& text : {test::cells_charter(1, kRecords, kRounds),
                                  test::three_cells_charter(1, kRecords, kRounds)}) {
    const SimulateInput input = input_of(text);
    const auto play = [&](uint64_t seed) {
      const SimulateOptions options{.seed = seed};
      return run_job({.input = input, .options = options});
    };
    const auto one = play(3), again = play(3), other = play(4);
    ASSERT_TRUE(one && again && other) << describe(one.error());
    EXPECT_EQ(one->parts, again->parts);
    EXPECT_NE(one->parts, other->parts);
    for (const auto& owner : one->owners) {
      EXPECT_EQ(owner.answered, 8u);
      EXPECT_LE(owner.spent.epsilon, 1);
      EXPECT_GT(owner.spent.epsilon, .99);
    }
  }
}

TEST(CellsInTheSimulator, RoundsAmongFaultsEndWithAModelOrAReason) {
  expect_model_or_reason(input_of(test::cells_charter(1, kRecords, kRounds)), 20, .005, 5);
}
TEST(CellsInTheSimulator, RoundsOfThreeOwnersAmongFaultsEndWithAModelOrAReason) {
  expect_model_or_reason(input_of(test::three_cells_charter(1, kRecords, kRounds)), 10, .001, 2);
}

}  // namespace cells_test
}  // namespace parley::sim
