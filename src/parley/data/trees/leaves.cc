#include "parley/data/trees/leaves.h"

#include <algorithm>
#include <array>

namespace parley::data {

Leaves::Leaves(const Trees& trees)
    : columns_(trees.columns), depth_(trees.depth()), base_(trees.base) {
  check(!fault_of(trees));
  for (const Tree& tree : trees.trees) add(tree);
}

void Leaves::add(const Tree& tree) {
  const size_t ways = size_t{1} << depth_, first = values_.size();
  std::array<bool, 2 * kLeavesMax> is_split{};
  std::vector<Node> nodes(ways);  // Those without a split decide nothing.
  for (const Tree::Split& split : tree.splits) {
    nodes[split.at] = {static_cast<uint32_t>(split.column), split.threshold};
    is_split[split.at] = true;
  }
  nodes_.insert(nodes_.end(), nodes.begin(), nodes.end());
  base_of_.push_back(static_cast<uint32_t>(first));
  uint64_t before = 0;  // the node of the last leaf
  size_t leaf = first;
  for (size_t way = 0; way < ways; ++way) {
    uint64_t node = ways + way;
    while (!is_split[node / 2]) node /= 2;  // Up to the leaf: the parent of a leaf is a split.
    leaf += way > 0 && node != before;
    leaf_at_.push_back(static_cast<uint32_t>(leaf));
    before = node;
  }
  values_.insert(values_.end(), tree.values.begin(), tree.values.end());
}

size_t Leaves::leaf_of(size_t t, const double* record) const {
  const Node* nodes = nodes_.data() + (t << depth_);
  size_t node = 1;
  for (size_t step = 0; step < depth_; ++step)
    node = 2 * node + !(record[nodes[node].column] <= nodes[node].threshold);
  return leaf_at_[(t << depth_) + node - (size_t{1} << depth_)];
}

void Leaves::find(std::span<const double> record, std::span<uint8_t> leaves) const {
  check(record.size() == columns_ && leaves.size() == trees());
  for (size_t t = 0; t < leaves.size(); ++t)
    leaves[t] = static_cast<uint8_t>(leaf_of(t, record.data()) - base_of_[t]);
}

void Leaves::one_hot(std::span<const double> record, double on, std::span<double> features) const {
  check(record.size() == columns_ && features.size() == levels());
  std::fill(features.begin(), features.end(), 0.0);
  for (size_t t = 0; t < trees(); ++t) features[leaf_of(t, record.data())] = on;
}

double Leaves::score(std::span<const double> record) const {
  check(record.size() == columns_);
  double sum = base_;
  for (size_t t = 0; t < trees(); ++t) sum += values_[leaf_of(t, record.data())];
  return sum;
}

std::vector<double> scores_of(const Trees& trees, const Rows& rows) {
  const Leaves leaves(trees);
  std::vector<double> scores(rows.size());
  by_window(rows, 0, rows.size(), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) scores[i] = leaves.score(rows.row(i));
  });
  return scores;
}

}  // namespace parley::data
