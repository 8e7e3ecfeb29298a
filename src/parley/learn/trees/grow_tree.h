// One tree: the split with the largest gain first, until nothing is gained or a limit is met.
#pragma once

#include <cstdint>
#include <vector>

#include "parley/data/trees/trees.h"
#include "parley/learn/trees/histogram.h"

namespace parley::learn {

struct TreeLimits {
  size_t depth = 3;         // splits on the way to a leaf, 1 to 4
  size_t leaves = 16;       // 2 to 16
  uint64_t leaf_rows = 20;  // at least so many in every leaf
  double l2 = 1;            // penalty l2/2 v^2 on a leaf's value v
};

struct GrownTree {
  data::Tree tree{};            // without splits if nothing is gained; one value for every leaf
  std::vector<uint8_t> leaf{};  // of every row, also of those it was not grown on
};

/// Grown on `rows`, ascending. With G and H the sums of slopes and curvatures in a node, its best
/// value is -G / (H + l2), and a split gains
///   Gl^2 / (Hl + l2) + Gr^2 / (Hr + l2) - G^2 / (H + l2),
/// twice the decrease of the loss' second-order expansion (Friedman 2001; Chen and Guestrin 2016).
/// Of equal gains the first column counts, then the lowest threshold. A leaf's curvature is at
/// least 1e-3, as in scikit-learn.
GrownTree grow_tree(const Bins& bins, const Derivatives& derivatives, std::vector<uint32_t> rows,
                    const TreeLimits& limits, int threads);

}  // namespace parley::learn
