#include "parley/learn/personal/mixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "parley/learn/personal/folds.h"
#include "parley/learn/personal/pull.h"

namespace parley::learn {
namespace mixture_test {

TEST(Mixture, WeightsSumToOneAndFollowTheLosses) {
  const std::vector<double> losses = {.7, .6, .65, .6}, priors = {.4, .1, .3, .2};
  const auto weights = mixture_weights(losses, priors, 50, 4);
  EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 1, 1e-15);
  EXPECT_NEAR(weights[3] / weights[1], 2, 1e-14);  // Equal losses: by their priors.
  EXPECT_NEAR(weights[0] / weights[1], 4 * std::exp(-50 * .1 / 4), 1e-13);
}

TEST(Mixture, LossesThatAreNotFiniteHaveNoWeight) {
  const std::array<double, 4> losses = {NAN, .5, INFINITY, .5};
  const std::array priors = {.25, .25, .25, .25};
  EXPECT_EQ(mixture_weights(losses, priors, 10, 4), (std::vector<double>{0, .5, 0, .5}));
}

TEST(Mixture, PriorZeroIsOutAndTemperatureZeroTakesTheBest) {
  const std::array losses = {.1, .5, .9};
  const std::array priors = {0.0, .5, .5};
  EXPECT_EQ(mixture_weights(losses, priors, 10'000'000, 4), (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(mixture_weights(losses, priors, 10, 0), (std::vector<double>{0, 1, 0}));
  const std::array perfect = {0.0, 0.0, 1e-300};
  EXPECT_EQ(mixture_weights(perfect, equal_priors(std::array{1, 2, 3}), 10, 0),
            (std::vector<double>{.5, .5, 0}));
}

TEST(Mixture, TemperatureFollowsTheUnitOfTheLoss) {
  EXPECT_EQ(mixture_temperature(Logistic{}, .3), 4);
  EXPECT_EQ(mixture_temperature(Logistic{{1, 5}}, .3), 20);
  EXPECT_EQ(mixture_temperature(Squared{}, .3), 2.4);
  EXPECT_EQ(mixture_temperature(Huber{}, .3), 2.4);
}

TEST(Mixture, GroupsHaveEqualMass) {
  EXPECT_EQ(equal_priors(std::array{4, 4, 7, 4, 4}),
            (std::vector<double>{.125, .125, .5, .125, .125}));
}

TEST(Folds, AreEvenAndDependOnSeedAndRepeatOnly) {
  for (size_t rows : {2, 7, 299, 1000}) {
    const FoldPlan plan = fold_plan(rows);
    EXPECT_EQ(plan.folds, std::min<size_t>(rows, 5));
    EXPECT_EQ(plan.repeats, rows < 300 ? 3U : 1U);
    const auto folds = fold_of_rows(rows, plan.folds, 3, 0);
    EXPECT_EQ(folds, fold_of_rows(rows, plan.folds, 3, 0));
    for (size_t fold = 0; fold < plan.folds; ++fold) {
      const auto size = size_t(std::count(folds.begin(), folds.end(), fold));
      EXPECT_GE(size, rows / plan.folds);
      EXPECT_LE(size, rows / plan.folds + 1);
    }
    if (rows > 10) {
      EXPECT_NE(folds, fold_of_rows(rows, plan.folds, 3, 1));
      EXPECT_NE(folds, fold_of_rows(rows, plan.folds, 4, 0));
    }
  }
}

TEST(Pull, GridsAreHalfDecadesFromTheLargestDown) {
  const auto grid = half_decades(-8, 1);
  ASSERT_EQ(grid.size(), 10U);
  for (size_t k = 0; k < grid.size(); ++k)
    EXPECT_NEAR(grid[k] / std::pow(10, .5 - .5 * double(k)), 1, 1e-14);
}

TEST(Pull, OwnColumnsHaveTheMeanCurvature) {
  EXPECT_EQ(with_own_columns(std::array{1.0, 2.0}, 4), (std::vector<double>{1, 2, 0, 0}));
  EXPECT_EQ(metric_with_own_columns(std::array{1.0, .5, .5, 3.0}, 2, 3),
            (std::vector<double>{1, .5, 0, .5, 3, 0, 0, 0, 2}));
  EXPECT_EQ(identity_metric(2, 1, .1), (std::vector<double>{1, 0, 0, .1}));
}

}  // namespace mixture_test
}  // namespace parley::learn
