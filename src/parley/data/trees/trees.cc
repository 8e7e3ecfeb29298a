#include "parley/data/trees/trees.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "parley/data/rows.h"

namespace parley::data {
namespace {

bool within_reach(double value) { return std::fabs(value) <= kLargest; }  // False for NaN.

std::optional<TreesFault> fault_of_splits(const Tree& tree, uint64_t columns) {
  if (tree.splits.empty() || tree.splits.size() >= kLeavesMax)
    return TreesFault{"at", "must be from 1 to 15 nodes"};
  std::array<bool, kLeavesMax> is_split{};
  is_split[0] = true;  // stands above the root
  uint64_t last = 0;
  for (const Tree::Split& split : tree.splits) {
    if (split.at <= last || split.at >= kLeavesMax)
      return TreesFault{"at", "must ascend from 1 to at most 15"};
    if (!is_split[split.at / 2]) return TreesFault{"at", "holds a node below a leaf"};
    if (split.column >= columns) return TreesFault{"column", "must be below `columns`"};
    if (!within_reach(split.threshold))
      return TreesFault{"threshold", "must be from -1e140 to 1e140"};
    is_split[last = split.at] = true;
  }
  return std::nullopt;
}

std::optional<TreesFault> fault_of_tree(const Tree& tree, uint64_t columns) {
  if (auto fault = fault_of_splits(tree, columns)) return fault;
  if (tree.values.size() != tree.leaves())
    return TreesFault{"value", "must be one more than there are splits"};
  if (!std::all_of(tree.values.begin(), tree.values.end(), within_reach))
    return TreesFault{"value", "must be from -1e140 to 1e140"};
  return std::nullopt;
}

}  // namespace

size_t Tree::depth() const {
  return splits.empty() ? 0 : static_cast<size_t>(std::bit_width(splits.back().at));
}

size_t Trees::depth() const {
  size_t deepest = 0;
  for (const Tree& tree : trees) deepest = std::max(deepest, tree.depth());
  return deepest;
}

std::vector<size_t> Trees::levels() const {
  std::vector<size_t> levels;
  for (const Tree& tree : trees) levels.push_back(tree.leaves());
  return levels;
}

std::vector<std::string> Trees::level_names() const {
  std::vector<std::string> names;
  for (size_t t = 0; t < trees.size(); ++t)
    for (size_t leaf = 1; leaf <= trees[t].leaves(); ++leaf)
      names.push_back("tree" + std::to_string(t + 1) + "=" + std::to_string(leaf));
  return names;
}

std::optional<TreesFault> fault_of(const Trees& trees) {
  if (trees.columns < 1 || trees.columns > kColumnsMax)
    return TreesFault{"columns", "must be from 1 to 4096"};
  if (!within_reach(trees.base)) return TreesFault{"base", "must be from -1e140 to 1e140"};
  if (trees.trees.size() > kTreesMax) return TreesFault{"trees", "must be at most 1000"};
  for (size_t t = 0; t < trees.trees.size(); ++t)
    if (const auto fault = fault_of_tree(trees.trees[t], trees.columns))
      return TreesFault{"trees[" + std::to_string(t) + "]." + fault->key, fault->what};
  return std::nullopt;
}

}  // namespace parley::data
