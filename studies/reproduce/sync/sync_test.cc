// The synchronous figures in their small version: their numbers, not their verdicts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "studies/reproduce/output/output.h"
#include "studies/reproduce/registry.h"
#include "support/ledgers.h"

namespace parley::reproduce {
namespace sync_test {

/// Records are made once for all tests.
const Study& quick() {
  static const Study study = [] {
    Study made;
    made.quick = true, made.threads = 2;
    return made;
  }();
  return study;
}

Figure figure_of(std::string_view id, const Study& study = quick()) {
  for (const Entry& entry : entries()) {
    if (entry.id != id) continue;
    auto figure = entry.compute(study);
    EXPECT_TRUE(figure) << (figure ? "" : describe(figure.error()));
    return *figure;
  }
  ADD_FAILURE() << id << " is not listed";
  return {};
}

const Measure& measure_of(const Figure& figure, std::string_view words) {
  for (const Measure& measure : figure.measures)
    if (measure.quantity.find(words) != std::string::npos) return measure;
  ADD_FAILURE() << words;
  static const Measure none;
  return none;
}

void expect_values(const Figure& figure) {
  for (const Measure& measure : figure.measures)
    EXPECT_TRUE(std::isfinite(measure.value)) << figure.id << ": " << measure.quantity;
  for (const Panel& panel : figure.panels) {
    for (const Series& series : panel.series) {
      if (series.kind == Series::Kind::kLevel) continue;  // It has no x.
      EXPECT_EQ(series.x.size(), series.y.size()) << figure.id;
      for (double y : series.y) EXPECT_GT(y, 0) << figure.id << ", " << series.name;
    }
    if (!panel.surface) continue;
    EXPECT_EQ(panel.surface->value.size(), panel.surface->x.size() * panel.surface->y.size());
    for (double value : panel.surface->value) EXPECT_GT(value, 0) << figure.id;
  }
}

TEST(SynchronousFigures, EachHasItsNumbersAndAVerdictThatFollowsFromThem) {
  size_t count = 0;
  for (const Entry& entry : entries()) {
    if (!entry.id.starts_with("S-")) continue;
    const Figure figure = figure_of(entry.id);
    EXPECT_EQ(figure.id, entry.id);
    EXPECT_FALSE(figure.claim.empty() || figure.settings.empty() || figure.data.empty());
    EXPECT_EQ(figure.panels.empty(), entry.id.find("claim") != entry.id.npos) << entry.id;
    EXPECT_TRUE(std::ranges::any_of(figure.measures, [](const Measure& measure) {
      return measure.decides || !measure.tally.empty();
    })) << entry.id;
    expect_values(figure);
    ++count;
  }
  EXPECT_EQ(count, 14u);
}

// Six of its standard errors: fails with probability below 1e-8 each, for the runs are many enough
// that means are nearly normal.
TEST(SynchronousFigures, OnLoansFitnessFollowsTheSquareOfBudgetSizeAndOverlap) {
  Study study = quick();
  study.runs = 200;
  const Figure budgets = figure_of("S-F4", study), sizes = figure_of("S-F5", study);
  for (const auto& [figure, words] : {std::pair(&budgets, "slope over ε, n_i = 1,000"),
                                      std::pair(&sizes, "slope over n_i, ε = 0.1")}) {
    const Measure& slope = measure_of(*figure, words);
    EXPECT_NEAR(slope.value, -2, 6 * slope.error + .01) << words;
    EXPECT_LT(slope.error, .05);
  }
  const Figure overlap = figure_of("S-claim3", study);
  for (double kappa : {2, 3}) {
    const Measure& factor = overlap.measures[size_t(kappa) - 2];
    EXPECT_NEAR(factor.value, kappa * kappa, 6 * factor.error);
  }
}

TEST(SynchronousFigures, WeightsByNoiseUndoTheHarmOfSmallReluctantBanks) {
  Study study = quick();
  study.runs = 200;
  const Figure figure = figure_of("S-F6", study);
  const Measure& gain = measure_of(figure, "weights n_i/n over weights by noise, (i)");
  EXPECT_GT(gain.value - 6 * gain.error, 10);
  EXPECT_FALSE(gain.decides);
}

TEST(SynchronousFigures, AreTheSameOnAnyNumberOfThreadsAndFromKeptRuns) {
  Study study = quick();
  study.keep = test::fresh_folder();
  for (const char* id : {"S-F6", "S-F7"}) {
    const std::string expected = csv_of(figure_of(id));
    uint64_t made = 0;
    study.threads = 5;
    study.go_on = [&](uint64_t rounds) { return made += rounds; };
    EXPECT_EQ(csv_of(figure_of(id, study)), expected);
    EXPECT_GT(made, 0u);
    made = 0;
    EXPECT_EQ(csv_of(figure_of(id, study)), expected);
    EXPECT_EQ(made, 0u) << "all runs were kept";
  }
}

TEST(SynchronousFigures, StopWhenAsked) {
  Study study = quick();
  study.go_on = [](uint64_t) { return false; };
  const auto figure = entries()[0].compute(study);
  ASSERT_FALSE(figure);
  EXPECT_EQ(figure.error().code, Code::kFailed);
}

}  // namespace sync_test
}  // namespace parley::reproduce
