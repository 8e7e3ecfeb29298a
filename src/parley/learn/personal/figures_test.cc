#include "parley/learn/personal/figures.h"

#include <gtest/gtest.h>

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
    u += bend * (z[0] * z[1] > 0 ? 1 : -1);
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
  EXPECT_TRUE(figures->alone_trees);
  EXPECT_GT(figures->trees_weight, .5);
  EXPECT_FALSE(figures->joint);
  const auto straight = owner_figures(input_of(kTruth, 3000, false));
  ASSERT_TRUE(straight);
  EXPECT_FALSE(straight->alone_trees);
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
