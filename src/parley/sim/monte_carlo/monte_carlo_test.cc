#include "parley/sim/monte_carlo/monte_carlo.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "parley/base/files.h"
#include "parley/base/math/seeded_random.h"
#include "support/ledgers.h"

namespace parley::sim::monte_carlo {
namespace monte_carlo_test {

using learn::ClipIn, learn::Losses, data::Rows;

constexpr size_t kColumns = 7;

/// Two owners of some hundred rows, labels -1 and 1.
const std::vector<Rows>& two_owners() {
  static const std::vector<Rows> owners = [] {
    SeededRandom random(1, 0);
    std::vector<Rows> made(2, Rows(kColumns));
    std::vector<double> z(kColumns);
    for (size_t i = 0; i < 900; ++i) {
      for (double& value : z) value = random.normal();
      made[i < 600 ? 0 : 1].add(z, z[0] - z[1] + random.normal() > 0 ? 1 : -1);
    }
    return made;
  }();
  return owners;
}

Population population_of(Model model, Precision precision = Precision::kSingle) {
  Population population(std::move(model), kColumns, precision);
  for (const Rows& rows : two_owners()) population.add(rows);
  return population;
}

learn::Schedule some_schedule(uint32_t answers = 12) {
  return learn::algorithm2(answers, .3, learn::Average::kPaper, std::vector<double>(kColumns));
}

Async some_async(uint64_t rounds = 40) {
  learn::AsyncRule rule{.step = .1, .l2 = .01, .box = 2, .dimension = kColumns, .rounds = rounds};
  rule.add(2. / 3, 1);
  rule.add(1. / 3, 1);
  rule.set_steps();
  return {.rule = rule};
}

const Model kModels[] = {
    {.loss = learn::Squared{}, .l2 = .01, .box = 2},
    {.loss = learn::Squared{}, .l2 = .01, .box = 2, .clip = ClipIn::kL1, .limit = 3},
    {.loss = learn::Hinge{}, .l2 = .01, .box = 2, .clip = ClipIn::kL2, .limit = 2},
    {.loss = learn::Logistic{}, .l2 = .01, .box = 2},
    {.loss = learn::Huber{}, .l2 = .01, .box = 2}};

std::vector<Cell> two_cells() {
  return {{.scales = {.05, .1}}, {.scales = {.2, .3}, .weights = {.5, .5}, .stream = 1}};
}

std::vector<Sample> samples_of(const Job& job, const Options& options = {}) {
  auto samples = run(job, options);
  EXPECT_TRUE(samples) << (samples ? "" : describe(samples.error()));
  return *samples;
}

/// Calls use(job) for every model, synchronous and not.
template <class Use>
void with_jobs(const Use& use) {
  for (const Model& model : kModels) {
    const Population population = population_of(model);
    Job job{.population = population, .rule = some_schedule(), .cells = two_cells(), .runs = 23};
    job.rounds = {1, 5}, job.keep_models = true;
    use(job);
    job.rule = some_async();
    use(job);
  }
}

TEST(MonteCarlo, ARunHasTheSameBitsOnAnyNumberOfThreadsAndWithAnyNumberOfOthers) {
  with_jobs([](Job& job) {
    const auto expected = samples_of(job);
    for (int threads : {2, 5}) {
      const auto found = samples_of(job, {.threads = threads});
      for (size_t cell = 0; cell < 2; ++cell) {
        EXPECT_EQ(found[cell].noted, expected[cell].noted);
        EXPECT_EQ(found[cell].models, expected[cell].models);
      }
    }
    job.runs = 90;
    const auto more = samples_of(job);
    for (size_t cell = 0; cell < 2; ++cell)
      for (size_t run = 0; run < 23; ++run)
        EXPECT_EQ(more[cell].models[run], expected[cell].models[run]);
  });
}

TEST(MonteCarlo, NotesAreTheRelativeFitnessOfThatRoundsModels) {
  with_jobs([](Job& job) {
    const auto samples = samples_of(job);
    EXPECT_EQ(samples[0].noted.size(), 3u);
    EXPECT_EQ(samples[0].last(), job.population.relative([&] {
      std::vector<double> models;
      for (const auto& model : samples[0].models)
        models.insert(models.end(), model.begin(), model.end());
      return models;
    }()));
    for (double value : samples[1].noted[0]) EXPECT_GT(value, -1e-6);
  });
}

TEST(MonteCarlo, WhatWasStoppedGoesOnWhereItWas) {
  const auto file = test::fresh_folder() / "runs.csv";
  with_jobs([&](Job& job) {
    std::filesystem::remove(file);
    job.runs = 70;
    const auto expected = samples_of(job);
    uint64_t before = 0, after = 0;
    const auto half = [&](uint64_t rounds) { return (before += rounds) < job.work() / 2; };
    const auto stopped = run(job, {.store = file, .go_on = half});
    ASSERT_FALSE(stopped);
    EXPECT_NE(stopped.error().hint.find(file.string()), std::string::npos);
    ASSERT_TRUE(append_to_file(file, "1,3,0.2"));  // The machine fell while it wrote.

    const auto rest = [&](uint64_t rounds) { return after += rounds, true; };
    const auto found = samples_of(job, {.store = file, .go_on = rest});
    for (size_t cell = 0; cell < 2; ++cell) EXPECT_EQ(found[cell].noted, expected[cell].noted);
    EXPECT_LT(after, job.work()) << "what was finished is not made again";
    uint64_t again = 0;
    samples_of(job,
               {.store = file, .go_on = [&](uint64_t rounds) { return again += rounds, true; }});
    EXPECT_EQ(again, 0u) << "all were finished";
  });
}

TEST(MonteCarlo, TheFileIsTheSameHoweverItWasMadeAndBelongsToOneJob) {
  const auto folder = test::fresh_folder();
  const Population population = population_of(kModels[0]);
  Job job{.population = population, .rule = some_schedule(), .cells = two_cells(), .runs = 70};
  samples_of(job, {.store = folder / "one.csv"});
  samples_of(job, {.threads = 3, .store = folder / "three.csv"});
  EXPECT_EQ(*read_file(folder / "one.csv"), *read_file(folder / "three.csv"));
  job.runs = 80;  // More runs are the same job.
  samples_of(job, {.store = folder / "one.csv"});
  job.seed = 2;
  const auto other = run(job, {.store = folder / "one.csv"});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::kInvalid);
}

TEST(MonteCarlo, InAFolderEveryJobHasAFileOfItsOwn) {
  const auto folder = test::fresh_folder();
  const Population population = population_of(kModels[0]);
  Job job{.population = population, .rule = some_schedule(), .cells = two_cells(), .runs = 20};
  uint64_t made = 0;
  const Options options{.store = folder, .go_on = [&](uint64_t rounds) { return made += rounds; }};
  const auto first = samples_of(job, options);
  job.seed = 2;
  const auto second = samples_of(job, options);
  EXPECT_EQ(made, 2 * job.work());
  job.seed = 1;
  EXPECT_EQ(samples_of(job, options)[0].noted, first[0].noted);
  EXPECT_NE(second[0].noted, first[0].noted);
  EXPECT_EQ(made, 2 * job.work()) << "it was there";
}

TEST(MonteCarlo, WeightsAndScalesBelongToTheirCell) {
  const Population population = population_of(kModels[2]);
  Job job{.population = population, .rule = some_schedule(), .cells = two_cells(), .runs = 5};
  job.keep_models = true;
  const auto both = samples_of(job);
  for (size_t cell = 0; cell < 2; ++cell) {
    job.cells = {two_cells()[cell]};
    EXPECT_EQ(samples_of(job)[0].models, both[cell].models);
  }
}

/// No noise, and whoever comes by a rule.
struct Scripted final : Draws {
  explicit Scripted(std::function<size_t(uint64_t round)> who) : who(std::move(who)) {}
  void noise(uint64_t, uint64_t, uint64_t, std::span<double> out) const override {
    std::fill(out.begin(), out.end(), 0);
  }
  double turn(uint64_t, uint64_t, uint64_t round) const override { return .25 + .5 * who(round); }
  std::function<size_t(uint64_t round)> who;
};

TEST(MonteCarlo, AnOwnerThatReachedItsCapStaysAway) {
  const Population population = population_of(kModels[0]);
  Job job{.population = population, .rule = some_async(), .cells = {two_cells()[0]}, .runs = 1};
  job.keep_models = true;
  // The first owner comes in rounds 1, 2, 3, 5, 6, 7, 9, ...: its 20th answer is in round 26.
  const Scripted expected([](uint64_t round) { return round % 4 == 0 || round > 26; });
  job.draws = &expected;
  const auto without_caps = samples_of(job);
  Async capped = some_async();
  capped.caps = {20, 30};
  const Scripted often([](uint64_t round) { return round % 4 == 0; });
  job.rule = capped, job.draws = &often;
  EXPECT_EQ(samples_of(job)[0].models, without_caps[0].models);
}

}  // namespace monte_carlo_test
}  // namespace parley::sim::monte_carlo
