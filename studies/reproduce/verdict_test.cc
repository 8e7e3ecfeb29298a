#include "studies/reproduce/verdict.h"

#include <gtest/gtest.h>

#include <cmath>

#include "studies/reproduce/curve.h"
#include "studies/reproduce/draws.h"

namespace parley::reproduce {
namespace verdict_test {

Measure slope(double value, double error) { return slope_of_two("slope", Estimate{value, error}); }

TEST(Verdict, FollowsFromWhereTheIntervalLies) {
  EXPECT_EQ(verdict_of(slope(-1.95, 0)), Verdict::kReproduced);
  EXPECT_EQ(verdict_of(slope(-1.95, 0.01)), Verdict::kReproduced);
  EXPECT_EQ(verdict_of(slope(-1.95, 0.02)), Verdict::kNotDecided) << "it reaches across the end";
  EXPECT_EQ(verdict_of(slope(-1.8, 0.01)), Verdict::kRefuted);
  EXPECT_EQ(verdict_of(slope(-1.8, 0.05)), Verdict::kNotDecided);
  EXPECT_EQ(verdict_of(slope(-2.3, 0.01)), Verdict::kRefuted);
  EXPECT_EQ(verdict_of(slope(kUnknown, 0.01)), Verdict::kNotDecided);
  EXPECT_EQ(verdict_of(slope(-2, kUnknown)), Verdict::kNotDecided);
}

TEST(Verdict, OfFewDrawsHasTheIntervalOfStudentsT) {
  Measure measure = slope(-2, 0.02);
  EXPECT_EQ(verdict_of(measure), Verdict::kReproduced);
  measure.draws = 4;
  EXPECT_EQ(verdict_of(measure), Verdict::kNotDecided) << "9.2 standard errors";
  measure.draws = 8;
  EXPECT_EQ(verdict_of(measure), Verdict::kReproduced) << "4.5 standard errors";
  Measure run = slope(-2, 0.02);
  run.runs = 4;
  EXPECT_EQ(verdict_of(run), Verdict::kNotDecided) << "the same for few runs";
  run.draws = 8;
  EXPECT_EQ(verdict_of(run), Verdict::kReproduced) << "several draws decide by their own spread";
  for (uint64_t draws = 2; draws < 40; ++draws) {
    EXPECT_GE(reach_of(draws), reach_of(draws + 1));
    EXPECT_GT(reach_of(draws), 3);
  }
}

TEST(Verdict, OfAnItemIsThatOfItsWorstDecidingMeasure) {
  Figure figure;
  EXPECT_EQ(verdict_of(figure), Verdict::kNotDecided) << "nothing was measured";
  figure.measures = {slope(-2, 0.01), slope(-1, 0.01)};
  EXPECT_EQ(verdict_of(figure), Verdict::kRefuted);
  figure.measures[1].decides = false;
  EXPECT_EQ(verdict_of(figure), Verdict::kReproduced);
  figure.measures.push_back(slope(-1.8, 0.05));
  EXPECT_EQ(verdict_of(figure), Verdict::kNotDecided);
}

Figure on_both(double standin, double file, DataKind kind) {
  Figure figure;
  figure.kind = kind;
  figure.measures = {slope(file, 0.01)};
  figure.on_standin = {slope(standin, 0.01)};
  return figure;
}

TEST(Verdict, OfAStandInAloneNeverRefutes) {
  Figure figure;
  figure.kind = DataKind::kStandin;
  figure.measures = {slope(-1.6, 0.01)};
  EXPECT_EQ(verdict_of(figure), Verdict::kNotDecided);
  EXPECT_EQ(why_not_decided(figure), "refuted on the stand-in, and no real records were given");
  figure.measures = {slope(-2, 0.01)};
  EXPECT_EQ(verdict_of(figure), Verdict::kReproduced);
  figure.kind = DataKind::kNone;
  figure.measures = {slope(-1.6, 0.01)};
  EXPECT_EQ(verdict_of(figure), Verdict::kRefuted) << "a counterexample needs no data";
}

TEST(Verdict, WhereStandInAndExcerptDisagreeIsNotDecided) {
  const auto verdict = [](double standin, double file) {
    return verdict_of(on_both(standin, file, DataKind::kExcerpt));
  };
  EXPECT_EQ(verdict(-1.6, -2), Verdict::kNotDecided);
  EXPECT_EQ(verdict(-2, -1.6), Verdict::kNotDecided);
  EXPECT_EQ(verdict(-1.6, -1.5), Verdict::kRefuted);
  EXPECT_EQ(verdict(-2, -2), Verdict::kReproduced);
  EXPECT_EQ(why_not_decided(on_both(-1.6, -2, DataKind::kExcerpt)),
            "stand-in and real records disagree");
  Figure nothing = on_both(-1.6, -2, DataKind::kExcerpt);
  nothing.measures.clear();
  EXPECT_EQ(verdict_of(nothing), Verdict::kNotDecided) << "the file cannot say";
}

TEST(Verdict, ThePapersOwnFileDecidesAlone) {
  EXPECT_EQ(verdict_of(on_both(-1.6, -2, DataKind::kPapers)), Verdict::kReproduced);
  EXPECT_EQ(verdict_of(on_both(-2, -1.6, DataKind::kPapers)), Verdict::kRefuted);
}

TEST(Verdict, WasFittedIfADecidingMeasureWas) {
  Figure figure;
  figure.measures = {slope(-2, 0.01), slope(-2, 0.01)};
  EXPECT_FALSE(fitted_to_claim(figure));
  figure.measures[1].fitted = true;
  EXPECT_TRUE(fitted_to_claim(figure));
  figure.measures[1].decides = false;
  EXPECT_FALSE(fitted_to_claim(figure));
}

Measure step(double ratio, double error) {
  return compared("steps that fall", "a step", {ratio, error}, 0, 1);
}

TEST(Tally, HoldsOnlyIfAllComparisonsDo) {
  std::vector<Measure> measures = {step(.5, .01), step(.2, .01)};
  count_tallies(measures);
  ASSERT_EQ(measures.size(), 3u);
  EXPECT_TRUE(measures[0].decides);
  EXPECT_EQ(measures[0].value, 2);
  EXPECT_EQ(verdict_of(measures), Verdict::kReproduced);

  measures = {step(.5, .01), step(1.2, .01)};
  count_tallies(measures);
  EXPECT_EQ(measures[0].value, 1);
  EXPECT_EQ(verdict_of(measures), Verdict::kRefuted);

  measures = {step(.5, .01), step(.99, .1)};
  count_tallies(measures);
  EXPECT_EQ(measures[0].value, 1.5);
  EXPECT_EQ(verdict_of(measures), Verdict::kNotDecided);
}

TEST(Tally, WhatHasNotMovedIsNeitherMoreNorLess) {
  EXPECT_EQ(verdict_of(step(1, 0)), Verdict::kNotDecided);
  EXPECT_EQ(verdict_of(compared("steps", "improves", {1, 0}, 1, kAny)), Verdict::kNotDecided);
  EXPECT_EQ(verdict_of(step(0, 0)), Verdict::kReproduced);
  EXPECT_EQ(verdict_of(compared("steps", "alike", {1, 0}, 1, 1)), Verdict::kReproduced);
  EXPECT_TRUE(unnoticed(compared("steps", "improves", {1, .1}, 1, kAny)).empty()) << "as claimed";
}

TEST(Mutation, BreaksAMeasureBySignExponentAndAFactorOfThree) {
  EXPECT_TRUE(unnoticed(slope(-2, 0.01)).empty());
  EXPECT_TRUE(unnoticed(between("hundredfold", {94, 3}, 80, 125)).empty());
  EXPECT_TRUE(unnoticed(between("within 90 %", {.068, .001}, 0, .111)).empty());
  EXPECT_TRUE(unnoticed(between("told apart", {1, .03}, 0, .731)).empty()) << "refuted";
  std::vector<Measure> steps = {step(.5, .01), step(.2, .01)};
  count_tallies(steps);
  EXPECT_TRUE(unnoticed(steps[0]).empty());
}

TEST(Mutation, ExchangesTheSidesOfAComparison) {
  const auto alike = compared("clauses", "much the same", {1.5, .1}, 1. / 3, 3);
  EXPECT_TRUE(unnoticed(step(.9, .01)).empty());
  EXPECT_TRUE(unnoticed(compared("steps", "improves", {101, 4}, 1, kAny)).empty());
  EXPECT_TRUE(unnoticed(compared("clauses", "is large", {85'000, 3'500}, .111, kAny)).empty());
  EXPECT_TRUE(unnoticed(alike).empty());
  EXPECT_EQ(unnoticed(compared("clauses", "alike, too wide", {1.5, .1}, .1, 10)),
            (std::vector<std::string_view>{"factor of three"}));
}

TEST(Mutation, FindsAMeasureThatCannotFail) {
  const Measure blind = between("over its highest, the end among them", {.04, .001}, -kAny, 1);
  EXPECT_EQ(unnoticed(blind),
            (std::vector<std::string_view>{"sign", "exponent", "factor of three"}));
  EXPECT_EQ(unnoticed(between("at least 1", {300, 0}, 1, kAny)),
            (std::vector<std::string_view>{"exponent", "factor of three"}));
}

bool is_by_construction(const Measure& measure, std::string_view how) {
  for (const Broken& each : broken(measure))
    if (each.how == how) return each.by_construction;
  ADD_FAILURE() << how;
  return false;
}

TEST(Mutation, SaysWhatARangeAloneNotices) {
  const Measure hundredfold = between("hundredfold", {94, 3}, 80, 125);
  for (std::string_view how : {kSign, kExponent, kFactor})
    EXPECT_TRUE(is_by_construction(hundredfold, how)) << how;
  EXPECT_TRUE(is_by_construction(slope(-2, .01), kExponent));
  const Measure within = between("within 90 %", {.068, .001}, 0, .111);
  EXPECT_TRUE(is_by_construction(within, kSign));
  EXPECT_TRUE(is_by_construction(step(.5, .01), kSides));
  EXPECT_FALSE(is_by_construction(step(.5, .01), kFactor));
  EXPECT_FALSE(is_by_construction(within, kFactor)) << ".03 would be noticed by none";
  EXPECT_FALSE(is_by_construction(between("at least 1", {2, 0}, 1, kAny), kFactor));
  EXPECT_TRUE(is_by_construction(between("refuted", {2, 0}, 0, 1), kClaimed));
}

TEST(Mutation, SaysWhetherTheItemNoticesOrOnlyTheMeasure) {
  Figure figure;
  figure.measures = {slope(-2, .01), step(.5, .01), step(.2, .01)};
  count_tallies(figure.measures);
  ASSERT_EQ(figure.measures.size(), 4u);
  const auto notice = [&](size_t index, size_t way = 0) {
    return notice_of(figure, false, index, broken(figure.measures[index])[way]);
  };
  EXPECT_EQ(notice(1), Notice::kItem) << "a slope of the other sign";
  EXPECT_EQ(notice(2), Notice::kItem) << "a comparison, by its tally";
  EXPECT_EQ(notice(2, 1), Notice::kItem) << "three times .5 is above 1";
  EXPECT_EQ(notice(3, 1), Notice::kNone) << "three times .2 is not, and need not be";
  EXPECT_TRUE(unnoticed(figure.measures[3]).empty());
  figure.measures.push_back(slope(-1, .01));
  EXPECT_EQ(notice(1), Notice::kMeasure) << "the item is refuted by another measure";
  EXPECT_EQ(notice(4), Notice::kItem) << "the refuted one, put where the claim says";

  Figure file = on_both(-2, -2, DataKind::kPapers);
  const Broken way = broken(file.on_standin[0])[0];
  EXPECT_EQ(notice_of(file, true, 0, way), Notice::kMeasure) << "the paper's file decides alone";
  file.kind = DataKind::kExcerpt;
  EXPECT_EQ(notice_of(file, true, 0, way), Notice::kItem);
}

TEST(Draws, GiveTheMeanAndTheErrorOfTheirSpread) {
  Measure told = beside("told", {5, 1});
  const std::vector<std::vector<Measure>> draws = {
      {slope(-2, .001), told}, {slope(-1.9, .001), beside("told", {7, 1})}, {slope(-2.1, .001)}};
  const std::vector<Measure> all = over_draws(draws);
  EXPECT_DOUBLE_EQ(all[0].value, -2);
  EXPECT_NEAR(all[0].error, .1 / std::sqrt(3), 1e-12);
  EXPECT_EQ(all[0].draws, 3u);
  EXPECT_EQ(all[1].value, 5) << "told of the first draw";
  EXPECT_EQ(all[1].draws, 1u);
  Measure missing = slope(-2, .001);
  missing.quantity = "another";
  EXPECT_EQ(verdict_of(over_draws({{slope(-2, .001)}, {missing}})[0]), Verdict::kNotDecided);
}

}  // namespace verdict_test
}  // namespace parley::reproduce
