#include "parley/learn/trees/for_owner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "parley/base/math/seeded_random.h"
#include "parley/data/trees/leaves.h"

namespace parley::learn {
namespace for_owner_test {

using data::Rows;

Rows people(size_t count, uint64_t seed) {
  Rows rows(4);
  SeededRandom random(seed, 0);
  std::vector<double> z(4);
  for (size_t i = 0; i < count; ++i) {
    for (double& value : z) value = random.normal();
    const double signal = z[0] + (z[1] > 0 ? z[2] : -z[2]);
    rows.add(z, signal + random.normal() > 0 ? 1 : -1);
  }
  return rows;
}

double loss_of(const data::Trees& trees, const Rows& rows) {
  return mean_loss(Logistic{}, scores_of(trees, rows), rows);
}

TEST(TreesForOwner, TheBestSettingOnOwnRowsIsTaken) {
  for (const size_t rows : {100, 500, 3000, 6000}) {
    const auto found = boosted_for_owner(people(rows, 1), nullptr, Logistic{}, 7);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->losses.size(), kOwnerSettings.size());
    EXPECT_EQ(found->losses[found->setting],
              *std::min_element(found->losses.begin(), found->losses.end()));
    BoostOptions setting = kOwnerSettings[found->setting];
    setting.seed = 7;
    EXPECT_EQ(found->trees, *boost(people(rows, 1), setting)) << "grown on all rows in the end";
  }
}

TEST(TreesForOwner, PublicRowsHelpAnOwnerOfFewRows) {
  const Rows own = people(150, 1), pilot = people(1000, 2), test = people(20'000, 3);
  const auto alone = boosted_for_owner(own, nullptr, Logistic{}, 1);
  const auto with = boosted_for_owner(own, &pilot, Logistic{}, 1);
  ASSERT_TRUE(alone && with);
  EXPECT_LT(loss_of(with->trees, test), loss_of(alone->trees, test) - .03);
  EXPECT_LT(loss_of(alone->trees, test), std::log(2) - .05) << "better than a coin";
}

TEST(TreesForOwner, TheSameBitsOnAnyNumberOfThreadsAndForTheSameSeed) {
  const Rows own = people(400, 1), pilot = people(300, 2);
  const auto one = boosted_for_owner(own, &pilot, Logistic{}, 1, 1);
  for (const int threads : {2, 5}) {
    const auto more = boosted_for_owner(own, &pilot, Logistic{}, 1, threads);
    EXPECT_EQ(more->losses, one->losses);
    EXPECT_EQ(more->trees, one->trees);
  }
  EXPECT_NE(boosted_for_owner(own, &pilot, Logistic{}, 2, 1)->losses, one->losses);
}

TEST(TreesForOwner, AHandfulOfRowsJudgesNothing) {
  const auto few = boosted_for_owner(people(9, 1), nullptr, Logistic{}, 1);
  ASSERT_TRUE(few);
  EXPECT_TRUE(few->losses.empty());
  EXPECT_EQ(few->setting, 0u);
  EXPECT_TRUE(boosted_for_owner(people(10, 1), nullptr, Logistic{}, 1));
  EXPECT_FALSE(boosted_for_owner(Rows(4), nullptr, Logistic{}, 1)) << "no rows at all";
  const Rows pilot = people(300, 2);
  const auto of_pilot = boosted_for_owner(Rows(4), &pilot, Logistic{}, 1);
  ASSERT_TRUE(of_pilot);
  EXPECT_FALSE(of_pilot->trees.trees.empty());
}

TEST(TreesForOwner, ErrorsOfGrowingComeThrough) {
  EXPECT_FALSE(boosted_for_owner(people(50, 1), nullptr, Huber{}, 1));
}

}  // namespace for_owner_test
}  // namespace parley::learn
