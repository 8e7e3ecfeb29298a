// Trees that are grown on public rows for their leaves, which become features of the convex model
// that owners train: data/transforms/bundle.h.
#pragma once

#include "parley/learn/trees/boost.h"

namespace parley::learn {

/// As tried on real tables with some thousand public rows (docs/reference/bundle.md).
inline constexpr BoostOptions kPublicTrees = {
    .trees = 40, .learning_rate = .15, .limits = {.leaf_rows = 15}, .subsample = .7};

/// For a model of that loss, whatever loss `options` has: for two classes trees lower the logistic
/// loss with the model's class weights, for numbers the squared loss. An error if not even one tree
/// can be grown.
Result<data::Trees> public_trees(const data::Rows& pilot, const Losses& model,
                                 const BoostOptions& options = kPublicTrees);

}  // namespace parley::learn
