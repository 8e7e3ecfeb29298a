#include "parley/learn/personal/figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace parley::learn {
namespace figures_test {

/// Repeatable numbers in -1 .. 1.
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed * 2654435761u + 1) {}
  double next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 11) * 0x1p-52 - 1;
  }

 private:
  uint64_t state_;
};

constexpr size_t kColumns = 4;  // the last is the bias

std::shared_ptr<const data::Rows> rows_of(size_t count, const std::vector<double>& theta,
                                          uint64_t seed, bool classes, double bend = 0) {
  Numbers numbers(seed);
  auto rows = std::make_shared<data::Rows>(kColumns);
  for (size_t i = 0; i < count; ++i) {
    std::vector<double> z(kColumns, 1);
    double u = theta.back();
    for (size_t j = 0; j + 1 < kColumns; ++j) z[j] = numbers.next(), u += theta[j] * z[j];
    u += bend * (std::abs(z[0]) > .5 ? 1 : -1);
    const double chance = numbers.next();
    rows->add(z, classes ? (chance < 2 / (1 + std::exp(-u)) - 1 ? 1 : -1) : u + .3 * chance);
  }
  return rows;
}

FiguresInput input_of(const std::vector<double>& theta, size_t rows, bool classes,
                      double bend = 0) {
  FiguresInput input{.held_out = rows_of(4000, theta, 2, classes, bend),
                     .measure = classes ? Measure::kAuc : Measure::kRmse};
  input.own.loss = classes ? Losses(Logistic{}) : Losses(Squared{});
  input.own.rows = rows_of(rows, theta, 1, classes, bend);
  input.own.bias = kColumns - 1;
  return input;
}

const std::vector<double> kTruth = {.8, -.5, .3, .1};

TEST(OwnerFigures, AJointModelThatFitsHelpsASmallOwner) {
  for (const bool classes : {false, true}) {
    FiguresInput input = input_of(kTruth, 30, classes);
    input.own.joint = kTruth;
    const auto figures = owner_figures(input);
    ASSERT_TRUE(figures) << figures.error().what;
    EXPECT_GT(figures->over_alone.value, figures->over_alone.error) << classes;
    EXPECT_GT(figures->joint_weight, .5) << classes;
    ASSERT_TRUE(figures->joint);
    EXPECT_EQ(figures->trained, 30u);
    EXPECT_EQ(figures->judged, 4000u);
  }
}

TEST(OwnerFigures, LogLossStandsBesideAuc) {
  FiguresInput input = input_of(kTruth, 60, true);
  input.own.joint = kTruth;
  const auto figures = owner_figures(input);
  ASSERT_TRUE(figures && figures->log_loss);
  const auto& held_out = *std::get<std::shared_ptr<const data::Rows>>(input.held_out);
  std::vector<double> scores, labels;
  for (size_t i = 0; i < held_out.size(); ++i) {
    scores.push_back(0), labels.push_back(held_out.label(i));
    for (size_t j = 0; j < kColumns; ++j) scores.back() += kTruth[j] * held_out.row(i)[j];
  }
  EXPECT_NEAR(figures->joint->value, *auc(scores, labels), 1e-12);
  EXPECT_NEAR(figures->log_loss->joint->value, log_loss(scores, labels), 1e-9);
  EXPECT_NEAR(figures->log_loss->over_alone.value,
              figures->log_loss->alone.value - figures->log_loss->personal.value, 1e-12);
  EXPECT_FALSE(owner_figures(input_of(kTruth, 60, false))->log_loss) << "no classes";
}

TEST(OwnerFigures, AJointModelOfOthersIsIgnoredByAnOwnerWithRows) {
  for (const bool classes : {false, true}) {
    FiguresInput input = input_of(kTruth, 2000, classes);
    input.own.joint = {-.8, .5, -.3, 2};
    const auto figures = owner_figures(input);
    ASSERT_TRUE(figures) << figures.error().what;
    const double worse = -figures->over_alone.value / std::abs(figures->alone.value);
    EXPECT_LT(worse, .005) << classes;
  }
}

TEST(OwnerFigures, TreesAreTakenWhereTheTableIsNotLinear) {
  const FiguresInput bent = input_of(kTruth, 3000, false, .6);
  const auto figures = owner_figures(bent);
  ASSERT_TRUE(figures) << figures.error().what;
  EXPECT_GT(figures->alone_trees_weight, .5);
  EXPECT_GT(figures->trees_weight, .5);
  EXPECT_FALSE(figures->joint);
  const auto straight = owner_figures(input_of(kTruth, 3000, false));
  ASSERT_TRUE(straight);
  EXPECT_LT(straight->alone_trees_weight, .5);
}

TEST(OwnerFigures, TreesSeeWhatTheJointModelSaysOfAnOwnerThatIsBent) {
  FiguresInput bent = input_of(kTruth, 60, false, .6);
  const auto alone = owner_figures(bent);
  bent.own.joint = kTruth;
  const auto joined = owner_figures(bent);
  ASSERT_TRUE(alone && joined);
  EXPECT_LT(joined->personal.value, joined->linear.value) << "trees mend what the joint one misses";
  EXPECT_LT(joined->personal.value, alone->personal.value) << "and need its score for that";
  EXPECT_GT(joined->joint_weight, .1)
      << "a part of the mixture, by what it is better than the rest";
  bent.own.joint_optimism = 1e9;
  EXPECT_LT(owner_figures(bent)->joint_weight, 1e-6) << "charged to every model of its kind";
}

/// Trees gain from any good linear score. The public rows' model has one as well, so that a joint
/// model which knows no more than it brings nothing.
TEST(OwnerFigures, WhatTreesGainFromAScoreIsNotCreditedToTheJob) {
  FiguresInput bent = input_of(kTruth, 60, false, .6);
  bent.own.pilot = kTruth;
  const auto before = owner_figures(bent);
  bent.own.joint = kTruth;
  const auto after = owner_figures(bent);
  ASSERT_TRUE(before && after);
  EXPECT_EQ(after->own_public.value, before->own_public.value);
  EXPECT_NEAR(after->personal.value, before->own_public.value, .01 * before->own_public.value);
}

/// Nor are they credited to the public rows: an owner of many rows has a good score of its own.
TEST(OwnerFigures, WhatTreesGainFromAScoreIsAnOwnersOwn) {
  for (const bool classes : {false, true}) {
    FiguresInput bent = input_of(kTruth, 3000, classes, .6);
    const double alone = owner_figures(bent)->alone.value;
    bent.own.joint = kTruth;
    const auto joined = owner_figures(bent);
    ASSERT_TRUE(joined);
    EXPECT_EQ(joined->alone.value, alone);
    EXPECT_LT(std::abs(joined->over_alone.value), .003 * alone) << classes;
  }
}

TEST(OwnerFigures, AreInTheTargetsUnitsAndOfTheNoise) {
  FiguresInput input = input_of(kTruth, 2000, false);
  const double plain = owner_figures(input)->alone.value;
  EXPECT_NEAR(plain, .3 / std::sqrt(3), .01) << "the deviation of uniform noise in -0.3 .. 0.3";
  input.scale = 10;
  EXPECT_NEAR(owner_figures(input)->alone.value, 10 * plain, 1e-9);
}

TEST(OwnerFigures, GainsAreDifferencesWithAPairedError) {
  FiguresInput input = input_of(kTruth, 40, true);
  input.own.joint = kTruth;
  const auto figures = owner_figures(input);
  ASSERT_TRUE(figures);
  EXPECT_NEAR(figures->over_alone.value, figures->personal.value - figures->alone.value, 1e-12);
  EXPECT_LT(figures->over_alone.error, figures->personal.error + figures->alone.error);
  EXPECT_GT(figures->over_alone.error, 0);
}

TEST(OwnerFigures, PublicRowsAreACompetitor) {
  FiguresInput input = input_of(kTruth, 30, false);
  input.pilot = rows_of(500, kTruth, 3, false);
  input.own.pilot = {.79, -.51, .31, .1};
  const auto figures = owner_figures(input);
  ASSERT_TRUE(figures);
  EXPECT_LT(figures->own_public.value, figures->alone.value);
  EXPECT_EQ(figures->own_public.value, figures->personal.value) << "nothing else is there";
}

TEST(OwnerFigures, TheLinearPartIsJudgedBesideTheMixtureWithTrees) {
  const auto bent = owner_figures(input_of(kTruth, 3000, false, .6));
  ASSERT_TRUE(bent);
  EXPECT_GT(bent->linear.value, 1.2 * bent->personal.value);
  FiguresInput straight = input_of(kTruth, 400, true);
  straight.own.loss = Logistic{};
  auto sparse = std::make_shared<data::SparseRows>(kColumns);
  const auto dense = std::get<std::shared_ptr<const data::Rows>>(straight.own.rows);
  const uint32_t all[] = {0, 1, 2, 3};
  for (size_t i = 0; i < dense->size(); ++i) sparse->add(all, dense->row(i), dense->label(i));
  straight.own.rows = std::shared_ptr<const data::SparseRows>(sparse);
  const auto without_trees = owner_figures(straight);
  ASSERT_TRUE(without_trees) << without_trees.error().what;
  EXPECT_EQ(without_trees->linear.value, without_trees->personal.value);
}

TEST(HoldOut, DividesEveryRowOnceByTheSeed) {
  const data::AnyRows rows = rows_of(103, kTruth, 5, false);
  const auto& all = *std::get<std::shared_ptr<const data::Rows>>(rows);
  const auto labels_of = [](const data::AnyRows& part) {
    const auto& dense = *std::get<std::shared_ptr<const data::Rows>>(part);
    return std::vector<double>(dense.labels(), dense.labels() + dense.size());
  };
  const DividedRows parts = hold_out(rows, .2, 7);
  EXPECT_EQ(data::size_of(parts.held_out), 21u);
  std::vector<double> both = labels_of(parts.kept), whole(all.labels(), all.labels() + all.size());
  for (const double label : labels_of(parts.held_out)) both.push_back(label);
  std::sort(both.begin(), both.end()), std::sort(whole.begin(), whole.end());
  EXPECT_EQ(both, whole);
  EXPECT_EQ(labels_of(hold_out(rows, .2, 7).held_out), labels_of(parts.held_out));
  EXPECT_NE(labels_of(hold_out(rows, .2, 8).held_out), labels_of(parts.held_out));
  const data::AnyRows one = rows_of(1, kTruth, 5, false);
  EXPECT_EQ(data::size_of(hold_out(one, .2, 7).held_out), 0u);
}

TEST(OwnerFigures, SayWhatTheyCannotJudge) {
  FiguresInput input = input_of(kTruth, 200, true);
  auto one = std::make_shared<data::Rows>(kColumns);
  one->add(std::vector<double>(kColumns, 1), 1);
  input.held_out = std::shared_ptr<const data::Rows>(one);
  EXPECT_NE(owner_figures(input).error().what.find("one class"), std::string::npos);
  input.held_out = std::make_shared<const data::Rows>(kColumns);
  EXPECT_NE(owner_figures(input).error().what.find("no rows"), std::string::npos);
}

}  // namespace figures_test
}  // namespace parley::learn
