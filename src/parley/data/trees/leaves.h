// Applies trees to a record: its leaves and its score, a pure function of the record.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parley/data/rows.h"
#include "parley/data/trees/trees.h"

namespace parley::data {

/// Every tree is filled up to the depth of the deepest, so that each takes the same comparisons:
/// how long an owner takes does not tell which way its records went. Several threads may use one.
class Leaves {
 public:
  /// Ends the process if fault_of(trees) finds one: readers and growers give none.
  explicit Leaves(const Trees& trees);

  size_t columns() const { return columns_; }
  size_t trees() const { return base_of_.size(); }
  /// Levels of all trees together: the features that one-hot leaves have.
  size_t levels() const { return values_.size(); }

  /// The leaf of every tree, from 0, from left to right. Nothing fails on what a record contains: a
  /// NaN is above every threshold.
  void find(std::span<const double> record, std::span<uint8_t> leaves) const;
  /// The same as features, one per level: `on` for the leaf of a tree, 0 for its others.
  void one_hot(std::span<const double> record, double on, std::span<double> features) const;
  /// The base and the values of the leaves, added from the first tree to the last.
  double score(std::span<const double> record) const;

 private:
  struct Node {
    uint32_t column = 0;
    double threshold = 0;
  };
  void add(const Tree& tree);
  /// The leaf of tree t among all leaves.
  size_t leaf_of(size_t t, const double* record) const;

  size_t columns_, depth_;
  double base_;
  std::vector<Node> nodes_{};  // 2^depth per tree: nodes 1 .. 2^depth - 1, the first is not used
  std::vector<uint32_t> leaf_at_{};  // 2^depth per tree: where each way ends, among all leaves
  std::vector<uint32_t> base_of_{};  // the first leaf of each tree
  std::vector<double> values_{};
};

/// Scores of all rows.
std::vector<double> scores_of(const Trees& trees, const Rows& rows);

}  // namespace parley::data
