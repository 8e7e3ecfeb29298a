#include "parley/data/trees/trees.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "parley/data/trees/leaves.h"

namespace parley::data {
namespace trees_test {

/// The first tree:  x0 <= 1 ? (x1 <= 5 ? a : b) : c.  The second: x2 <= -2 ? d : (x0 <= 3 ? e : f).
Trees two_trees() {
  return {.columns = 3,
          .base = .5,
          .trees = {{.splits = {{1, 0, 1}, {2, 1, 5}}, .values = {1, 2, 4}},
                    {.splits = {{1, 2, -2}, {3, 0, 3}}, .values = {.25, .125, 8}}}};
}

constexpr std::string_view kText =
    R"({"base":0.5,"columns":3,"format":"parley.trees/1","trees":[)"
    R"({"at":[1,2],"column":[0,1],"threshold":[1,5],"value":[1,2,4]},)"
    R"({"at":[1,3],"column":[2,0],"threshold":[-2,3],"value":[0.25,0.125,8]}]})"
    "\n";

std::vector<int> leaves_of(const Trees& trees, const std::vector<double>& record) {
  std::vector<uint8_t> leaves(trees.trees.size());
  Leaves(trees).find(record, leaves);
  return {leaves.begin(), leaves.end()};
}

TEST(Trees, ARecordsLeavesAreThoseThatAPersonFinds) {
  const Trees trees = two_trees();
  EXPECT_EQ(leaves_of(trees, {1, 5, -2}), (std::vector{0, 0})) << "equal to a threshold: left";
  EXPECT_EQ(leaves_of(trees, {0, 6, 0}), (std::vector{1, 1}));
  EXPECT_EQ(leaves_of(trees, {2, 0, 0}), (std::vector{2, 1}));
  EXPECT_EQ(leaves_of(trees, {4, 9, -1.9}), (std::vector{2, 2}));
  EXPECT_EQ(leaves_of(trees, {NAN, NAN, NAN}), (std::vector{2, 2})) << "above every threshold";
  EXPECT_EQ(leaves_of(trees, {-INFINITY, INFINITY, INFINITY}), (std::vector{1, 1}));
}

TEST(Trees, ScoreAndFeaturesFollowTheLeaves) {
  const Trees trees = two_trees();
  const Leaves leaves(trees);
  const double record[] = {0, 6, 0};
  EXPECT_EQ(leaves.score(record), .5 + 2 + .125);
  std::vector<double> features(leaves.levels());
  leaves.one_hot(record, .75, features);
  EXPECT_EQ(features, (std::vector<double>{0, .75, 0, 0, .75, 0}));
  EXPECT_EQ(trees.levels(), (std::vector<size_t>{3, 3}));
  EXPECT_EQ(trees.level_names(), (std::vector<std::string>{"tree1=1", "tree1=2", "tree1=3",
                                                           "tree2=1", "tree2=2", "tree2=3"}));
  Rows rows(3);
  rows.add(record, 0);
  EXPECT_EQ(scores_of(trees, rows), std::vector{leaves.score(record)});
}

/// Every record of a grid, beside a walk from node to node.
TEST(Trees, LookupAgreesWithAWalkForEveryShapeOfTree) {
  std::mt19937 random(1);
  for (int run = 0; run < 200; ++run) {
    Tree tree;
    for (uint64_t at = 1; at < kLeavesMax; ++at) {
      const bool below = at == 1 || std::any_of(tree.splits.begin(), tree.splits.end(),
                                                [&](auto& split) { return split.at == at / 2; });
      if (below && (at == 1 || random() % 3 > 0))
        tree.splits.push_back({at, random() % 3, double(random() % 3)});
    }
    for (size_t leaf = 0; leaf < tree.leaves(); ++leaf) tree.values.push_back(double(leaf));
    const Trees trees{.columns = 3, .trees = {tree}};
    ASSERT_FALSE(fault_of(trees));
    const auto walk = [&](const std::vector<double>& x) {
      uint64_t at = 1;
      for (const auto& split : tree.splits)  // Ascending, so a node comes before those below it.
        if (split.at == at) at = 2 * at + (x[split.column] > split.threshold);
      return at;
    };
    std::map<uint64_t, int> leaf_of_node;
    std::map<int, int> met;
    for (int k = 0; k < 64; ++k) {
      const std::vector<double> x = {k % 4 - .5, k / 4 % 4 - .5, k / 16 - .5};
      const int leaf = leaves_of(trees, x)[0];
      const auto [known, is_new] = leaf_of_node.emplace(walk(x), leaf);
      EXPECT_EQ(known->second, leaf);
      EXPECT_EQ(met.emplace(leaf, 1).second, is_new) << "another node has this leaf";
      EXPECT_EQ(Leaves(trees).score(x), leaf);
    }
  }
}

TEST(Trees, TheTextIsCanonicalAndReadsBack) {
  EXPECT_EQ(to_json(two_trees()), kText);
  const auto read = trees_from_json(kText, "t.json");
  ASSERT_TRUE(read) << describe(read.error());
  EXPECT_EQ(*read, two_trees());
  const Trees none{.columns = 1, .base = -1e-300};
  EXPECT_EQ(*trees_from_json(to_json(none), "t.json"), none);
}

/// What the reader says about trees that were changed before they were written.
std::string refusal(const std::function<void(Trees&)>& change) {
  Trees trees = two_trees();
  change(trees);
  const auto read = trees_from_json(to_json(trees), "t.json");
  return read ? "accepted" : read.error().where.key + ": " + read.error().what;
}

TEST(Trees, TheReaderNamesWhatIsWrong) {
  EXPECT_EQ(refusal([](Trees&) {}), "accepted");
  EXPECT_EQ(refusal([](Trees& t) { t.columns = 0; }), "columns: must be from 1 to 4096");
  EXPECT_EQ(refusal([](Trees& t) { t.columns = 4097; }), "columns: must be from 1 to 4096");
  EXPECT_EQ(refusal([](Trees& t) { t.base = 2e140; }), "base: must be from -1e140 to 1e140");
  EXPECT_EQ(refusal([](Trees& t) { t.trees.resize(1001, t.trees[0]); }),
            "trees: must be at most 1000");
  EXPECT_EQ(refusal([](Trees& t) { t.trees.resize(1000, t.trees[0]); }), "accepted");
  EXPECT_EQ(refusal([](Trees& t) { t.trees[1].splits.clear(); }),
            "trees[1].at: must be from 1 to 15 nodes");
  EXPECT_EQ(refusal([](Trees& t) { t.trees[0].splits.resize(16); }),
            "trees[0].at: must be from 1 to 15 nodes");
  EXPECT_EQ(refusal([](Trees& t) { t.trees[0].splits[0].at = 0; }),
            "trees[0].at: must ascend from 1 to at most 15");
  EXPECT_EQ(refusal([](Trees& t) { t.trees[0].splits[1].at = 1; }),
            "trees[0].at: must ascend from 1 to at most 15");
  EXPECT_EQ(refusal([](Trees& t) { t.trees[0].splits[1].at = 16; }),
            "trees[0].at: must ascend from 1 to at most 15");
  EXPECT_EQ(refusal([](Trees& t) { t.trees[0].splits[1].at = uint64_t(-1); }),
            "trees[0].at: must ascend from 1 to at most 15");
  EXPECT_EQ(refusal([](Trees& t) { t.trees[0].splits[1].at = 5; }),
            "trees[0].at: holds a node below a leaf");
  EXPECT_EQ(refusal([](Trees& t) { t.trees[1].splits[0].at = 2; }),
            "trees[1].at: holds a node below a leaf");
  EXPECT_EQ(refusal([](Trees& t) { t.trees[1].splits[1].column = 3; }),
            "trees[1].column: must be below `columns`");
  EXPECT_EQ(refusal([](Trees& t) { t.trees[1].splits[1].threshold = -1e141; }),
            "trees[1].threshold: must be from -1e140 to 1e140");
  EXPECT_EQ(refusal([](Trees& t) { t.trees[0].values.pop_back(); }),
            "trees[0].value: must be one more than there are splits");
  EXPECT_EQ(refusal([](Trees& t) { t.trees[0].values[2] = 1e200; }),
            "trees[0].value: must be from -1e140 to 1e140");
}

/// The same for a text with `from` replaced.
std::string refusal(std::string_view from, std::string_view to) {
  std::string text(kText);
  text.replace(text.find(from), from.size(), to);
  const auto read = trees_from_json(text, "t.json");
  return read ? "accepted" : read.error().where.key + ": " + read.error().what;
}

TEST(Trees, TheReaderRefusesAnyOtherText) {
  EXPECT_EQ(refusal("trees/1", "trees/2"),
            "format: is not parley.trees/1, which this Parley reads");
  EXPECT_EQ(refusal("\"columns\":3,", ""), "columns: is missing");
  EXPECT_EQ(refusal("\"columns\":3", "\"columns\":-3"), "columns: must be a whole number from 0");
  EXPECT_EQ(refusal("[1,2]", "[1]"), "trees[0].column: must be one per node");
  EXPECT_EQ(refusal("[1,5]", "[1,5,6]"), "trees[0].threshold: must be one per node");
  EXPECT_EQ(refusal("[1,5]", "[1,null]"),
            "trees[0].threshold: must be a list, each entry a finite number");
  EXPECT_EQ(refusal("[1,2]", "[1,2.5]"),
            "trees[0].at: must be a list, each entry a whole number from 0");
  EXPECT_EQ(refusal("0.5", "1e999"), ": holds a number out of range");
  EXPECT_EQ(refusal("0.5", "0.50"), ": is not as Parley writes trees");
  EXPECT_EQ(refusal("\"base\"", "\"also\":1,\"base\""), ": is not as Parley writes trees");
  EXPECT_EQ(refusal("]}]}\n", "]}]}"), ": is not as Parley writes trees");
  EXPECT_EQ(refusal("]}]}\n", "]}]"), ": is not JSON");
  EXPECT_EQ(refusal(kText, "[]"), ": is not a JSON object");
  EXPECT_EQ(refusal(kText, std::string(kTreesTextMax + 1, '[')),
            ": is longer than any file of trees, 4 MiB");
}

TEST(Trees, TheLargestTreesFitInAFile) {
  Tree tree;
  for (uint64_t at = 1; at < kLeavesMax; ++at) tree.splits.push_back({at, 4095, -.1e-100 / 3});
  tree.values.assign(kLeavesMax, -.1e-100 / 3);
  const Trees trees{.columns = 4096, .base = 0, .trees = std::vector<Tree>(kTreesMax, tree)};
  const std::string text = to_json(trees);
  EXPECT_LT(text.size(), kTreesTextMax);
  EXPECT_EQ(*trees_from_json(text, "t.json"), trees);
}

TEST(Trees, DamagedFilesAreErrorsNeverCrashes) {
  std::mt19937_64 random(1);
  const double record[] = {0, 6, 0};
  for (int run = 0; run < 3000; ++run) {
    std::string damaged(kText);
    damaged[random() % damaged.size()] = static_cast<char>(random());
    damaged.resize(random() % 4 == 0 ? random() % damaged.size() : damaged.size());
    const auto trees = trees_from_json(damaged, "t.json");
    if (!trees) {
      EXPECT_EQ(trees.error().where.file, "t.json");
    } else if (trees->columns == 3) {
      EXPECT_TRUE(std::isfinite(Leaves(*trees).score(record)));
    }
  }
}

}  // namespace trees_test
}  // namespace parley::data
