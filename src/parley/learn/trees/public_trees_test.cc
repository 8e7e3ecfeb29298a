#include "parley/learn/trees/public_trees.h"

#include <gtest/gtest.h>

#include "parley/base/bytes.h"
#include "parley/base/math/seeded_random.h"

namespace parley::learn {
namespace public_trees_test {

/// A label that no line tells: whether two numbers have the same sign.
data::Rows rows(size_t count = 600) {
  data::Rows rows(3);
  SeededRandom random(1, 0);
  for (size_t i = 0; i < count; ++i) {
    const double z[] = {random.normal(), random.normal(), random.normal()};
    rows.add(z, z[0] * z[1] + .2 * z[0] > 0 ? 1 : -1);
  }
  return rows;
}

TEST(PublicTrees, AreFortyOfDepthThree) {
  const auto trees = public_trees(rows(), Logistic{});
  ASSERT_TRUE(trees) << describe(trees.error());
  EXPECT_EQ(trees->trees.size(), 40u);
  EXPECT_EQ(trees->depth(), 3u);
  EXPECT_EQ(*trees, *public_trees(rows(), Logistic{})) << "the same rows give the same trees";
  EXPECT_EQ(to_hex(sha256(as_bytes(to_json(*trees)))),
            "780ef549911401d4245a4a571942151c33822ee43167c20ea99fc971b7acadf1")
      << "and everywhere";
  BoostOptions other = kPublicTrees;
  other.seed = 2;
  EXPECT_NE(*trees, *public_trees(rows(), Logistic{}, other));
}

// Trees are grown for two losses only; every model has one of them that goes with its labels.
TEST(PublicTrees, FollowTheLabelsOfTheModel) {
  const auto grown = [](const Losses& model) { return *public_trees(rows(), model); };
  EXPECT_EQ(grown(Hinge{}), grown(Logistic{}));
  EXPECT_EQ(grown(Huber{}), grown(Squared{}));
  EXPECT_NE(grown(Squared{}), grown(Logistic{}));
  const ClassWeights weights{1, 5};
  EXPECT_EQ(grown(Hinge{weights}), grown(Logistic{weights}));
  EXPECT_NE(grown(Hinge{weights}), grown(Hinge{}));
}

TEST(PublicTrees, RowsThatAllowNoSplitAreAnError) {
  EXPECT_FALSE(public_trees(rows(20), Logistic{})) << "15 rows in a leaf";
}

}  // namespace public_trees_test
}  // namespace parley::learn
