// A column of a batch is a run of the simulator, given the same noise.
#include <gtest/gtest.h>

#include <cmath>
#include <queue>

#include "parley/plan/learner/async_plan.h"
#include "parley/plan/learner/sync_plan.h"
#include "parley/plan/terms.h"
#include "parley/sim/engine/engine.h"
#include "parley/sim/load.h"
#include "parley/sim/monte_carlo/monte_carlo.h"
#include "parley/sim/poisson_clocks.h"
#include "parley/sim/seeded_entropy.h"
#include "studies/paper/async.h"
#include "studies/paper/sync.h"
#include "support/ledgers.h"

namespace parley::sim::monte_carlo {
namespace conformance_test {

constexpr uint64_t kSeed = 5, kRuns = 6;

/// Three banks on stand-in data.
std::string charter_text(const std::string& model, const std::string& protocol,
                         const std::string& privacy) {
  std::string text =
      "[charter]\nversion = 1\nname = \"three-banks\"\nconsortium = \"banks.example\"\n"
      "[pilot]\nfile = \"pilot.csv\"\nsha256 = \"" +
      std::string(64, '0') +
      "\"\nrows = 1000\n"
      "[target]\ncolumn = \"int_rate\"\nbounds = [5.0, 29.0]\ncenter = 13.25\nscale = 15.75\n"
      "[[column]]\nname = \"pc\"\ncount = 10\nkind = \"number\"\nbounds = [-40.0, 40.0]\n"
      "missing = 0.0\n[model]\n" +
      model + "[protocol]\n" + protocol + "[privacy]\nevaluate = 0.0\n" + privacy;
  for (const char* owner : {"name = \"bank-a\"\nrows = 900", "name = \"bank-b\"\nrows = 1500",
                            "name = \"bank-c\"\nrows = 600"})
    text += "[[owner]]\n" + std::string(owner) + "\nepsilon = 5.0\n";
  return text + "[learner]\nname = \"central-bank\"\n";
}

SimulateInput input_of(const std::string& text) {
  auto charter = charter::parse_charter(text, "test.charter.toml", ".");
  EXPECT_TRUE(charter) << (charter ? "" : describe(charter.error()));
  auto input = load_standin(*charter, "lending", 1);
  EXPECT_TRUE(input) << (input ? "" : describe(input.error()));
  return *input;
}

Population population_of(const SimulateInput& input, double box, learn::ClipIn clip,
                         Precision precision) {
  const charter::Model& model = input.charter.model;
  Population population({.loss = charter::loss_of(model),
                         .l2 = model.l2,
                         .box = box,
                         .clip = clip,
                         .limit = input.charter.privacy.max_grad_norm},
                        input.charter.schema.features().size(), precision);
  for (const OwnerData& owner : input.owners)
    population.add(*std::get<std::shared_ptr<const data::Rows>>(owner.rows));
  return population;
}

/// Noise and turns that somebody else made, run by run.
struct Given final : Draws {
  std::vector<std::vector<double>> numbers{}, turns{};

  void noise(uint64_t, uint64_t run, uint64_t first, std::span<double> out) const override {
    for (size_t k = 0; k < out.size(); ++k)  // Some are drawn ahead for nothing.
      out[k] = first + k < numbers[run].size() ? numbers[run][first + k] : 0;
  }
  double turn(uint64_t, uint64_t run, uint64_t round) const override { return turns[run][round]; }
};

std::vector<std::vector<double>> models_of(const Population& population,
                                           std::variant<learn::Schedule, Async> rule,
                                           const Given& given) {
  Job job{.population = population,
          .rule = std::move(rule),
          .cells = {{.scales = std::vector<double>(population.owners(), 1)}},
          .runs = kRuns,
          .keep_models = true,
          .draws = &given};
  return (*run(job))[0].models;
}

void expect_near(const std::vector<double>& found, std::span<const double> expected,
                 double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t j = 0; j < found.size(); ++j) EXPECT_NEAR(found[j], expected[j], tolerance);
}

TEST(MonteCarloConformance, AColumnIsARunOfThePapersSynchronousAlgorithms) {
  for (const char* loss : {"squared", "huber"})
    for (const char* rule : {"algorithm1", "algorithm2"}) {
      const SimulateInput input = input_of(charter_text(
          "loss = \"" + std::string(loss) + "\"\nl2 = 0.01\nbox = 1.0\n",
          "name = \"sync\"\nrule = \"" + std::string(rule) + "\"\nrounds = 20\nstep = 0.5\n",
          "calibration = \"paper\"\nmax_grad_norm = 2.0\n"));
      const paper::Sync sync = *paper::Sync::make(input, 1);
      Given given;
      for (uint64_t run = 0; run < kRuns; ++run) {
        auto& numbers = given.numbers.emplace_back(sync.answers() * 30);
        for (size_t i = 0; i < 3; ++i) {
          SeededEntropy entropy(kSeed, "paper:" + input.charter.owners[i].name, run);
          for (size_t k = 0; k < sync.answers(); ++k)
            for (size_t j = 0; j < 10; ++j)
              numbers[(3 * k + i) * 10 + j] = paper::real_laplace(entropy, sync.noise_scale(i));
        }
      }
      const bool first = rule == std::string("algorithm1");
      const double box = first ? INFINITY : 1;
      const std::vector<double> start(10);
      const auto average = input.charter.protocol.as<charter::Sync>()->average;
      const auto schedule = first ? learn::algorithm1(19, .5, average, start)
                                  : learn::algorithm2(18, .5, average, start);
      const auto models = models_of(
          population_of(input, box, learn::ClipIn::kNone, Precision::kDouble), schedule, given);
      for (uint64_t run = 0; run < kRuns; ++run)
        expect_near(models[run], sync.run(kSeed, run, [](size_t, std::span<const double>) {}).value,
                    1e-11);
    }
}

TEST(MonteCarloConformance, AColumnIsARunOfThePapersAsynchronousAlgorithm) {
  for (const char* loss : {"squared", "huber"}) {
    const SimulateInput input =
        input_of(charter_text("loss = \"" + std::string(loss) + "\"\nl2 = 2e-5\nbox = 1.0\n",
                              "name = \"async\"\nrounds = 60\nstep = 0.1\nanswers = 60\n",
                              "calibration = \"paper\"\nmax_grad_norm = 2.0\n"));
    const paper::Async async = *paper::Async::make(input, 1);
    Given given;
    for (uint64_t run = 0; run < kRuns; ++run) {  // As studies/paper/async.cc draws them.
      PoissonClocks clocks(kSeed, run);
      SeededEntropy entropy(kSeed, "paper", run);
      std::priority_queue<std::pair<double, size_t>, std::vector<std::pair<double, size_t>>,
                          std::greater<>>
          ticks;
      for (size_t i = 0; i < 3; ++i) clocks.add(1), ticks.push({clocks.gap(i), i});
      given.numbers.emplace_back(), given.turns.emplace_back();
      for (int round = 0; round < 60; ++round) {
        const auto [time, i] = ticks.top();
        ticks.pop(), ticks.push({time + clocks.gap(i), i});
        given.turns.back().push_back((i + .5) / 3);
        for (size_t j = 0; j < 10; ++j)
          given.numbers.back().push_back(paper::real_laplace(entropy, async.noise_scale(i)));
      }
    }
    const auto models = models_of(population_of(input, 1, learn::ClipIn::kNone, Precision::kDouble),
                                  Async{.rule = async.rule()}, given);
    for (uint64_t run = 0; run < kRuns; ++run)
      expect_near(models[run],
                  async.run(kSeed, run, [](uint64_t, std::span<const double>) {}).value.model,
                  1e-11);
  }
}

/// What the owners' gates draw: integers, by the charter's mechanism, as noise on mean gradients.
template <class Mechanism>
Given noise_of_gates(const charter::Charter& charter) {
  Given given;
  for (uint64_t run = 0; run < kRuns; ++run) {
    auto& numbers = given.numbers.emplace_back(charter.protocol.rounds * 30);
    for (size_t i = 0; i < 3; ++i) {
      const plan::Terms terms = *plan::terms_for(charter, i);
      const auto& mechanism = std::get<Mechanism>(terms.mechanism);
      const double unit = terms.lattice.gamma() / static_cast<double>(terms.rows);
      SeededEntropy entropy(kSeed, charter.owners[i].name, run);
      for (uint64_t k = 0; k < static_cast<uint64_t>(charter.protocol.rounds); ++k)
        for (size_t j = 0; j < 10; ++j)
          numbers[(3 * k + i) * 10 + j] = unit * static_cast<double>(mechanism.sample(entropy));
    }
  }
  return given;
}

// The job as owners and learner run it: gate, ledger, lattice and all. What is left between them is
// the lattice, whose steps are below 1e-6 of the clip, and single precision.
TEST(MonteCarloConformance, AColumnIsARunOfTheSoundProtocolButForTheLattice) {
  const struct {
    const char *rule, *mechanism;
  } kinds[] = {{"rule = \"algorithm2\"\nrounds = 20\nstep = 0.5\n", "laplace"},
               {"rule = \"constant\"\nrounds = 10\nstep = 0.2\nmomentum = 0.4\n", "laplace"},
               {"rule = \"pilot_newton\"\nrounds = 3\nstep = 1.0\n", "laplace"},
               {"rule = \"algorithm2\"\nrounds = 20\nstep = 0.5\nweights = \"noise_optimal\"\n",
                "gaussian"}};
  for (const auto& kind : kinds) {
    const bool pure = kind.mechanism == std::string("laplace");
    const SimulateInput input = input_of(charter_text(
        "loss = \"squared\"\nl2 = 0.01\nbox = 1.0\n", "name = \"sync\"\n" + std::string(kind.rule),
        "max_grad_norm = 2.0\nmechanism = \"" + std::string(kind.mechanism) + "\"\n" +
            (pure ? "" : "delta = 1e-6\n")));
    const auto simulated = simulate(input, {.seed = kSeed, .runs = kRuns});
    ASSERT_TRUE(simulated) << describe(simulated.error());
    const auto plan = *plan::sync_plan(input.charter, input.pilot.get());
    const Given given = pure ? noise_of_gates<privacy::Laplace>(input.charter)
                             : noise_of_gates<privacy::Gaussian>(input.charter);
    for (Precision precision : {Precision::kDouble, Precision::kSingle}) {
      const Population population =
          population_of(input, 1, pure ? learn::ClipIn::kL1 : learn::ClipIn::kL2, precision);
      Job job{.population = population,
              .rule = plan.schedule,
              .cells = {{.scales = {1, 1, 1}, .weights = {}}},
              .runs = kRuns,
              .draws = &given};
      for (const auto& owner : plan.owners) job.cells[0].weights.push_back(owner.weight);
      const Spread found = (*run(job))[0].spread();
      EXPECT_NEAR(found.mean, simulated->quality.relative_fitness.mean, 1e-5 * found.mean)
          << kind.rule;
      EXPECT_NEAR(found.p25, simulated->quality.relative_fitness.p25, 1e-5 * found.p25)
          << kind.rule;
      EXPECT_NEAR(found.p75, simulated->quality.relative_fitness.p75, 1e-5 * found.p75)
          << kind.rule;
    }
  }
}

}  // namespace conformance_test
}  // namespace parley::sim::monte_carlo
