// Gradient boosting (Friedman 2001): every tree lowers the loss that the trees before it left. An
// analyst with only its own rows would use it, and it grows the public trees whose leaves become
// features.
#pragma once

#include <cstdint>
#include <span>

#include "parley/base/result.h"
#include "parley/data/rows.h"
#include "parley/data/trees/trees.h"
#include "parley/learn/loss.h"
#include "parley/learn/trees/grow_tree.h"

namespace parley::learn {

struct BoostOptions {
  Losses loss = Logistic{};   // Logistic or Squared; l2 and gains are for half the square, as usual
  size_t trees = 100;         // 1 to 1,000
  double learning_rate = .1;  // above 0, at most 1
  TreeLimits limits{};
  double subsample = 1;  // part of the rows that each tree is grown on, drawn without replacement
  uint64_t seed = 1;     // of the subsamples
  size_t patience = 10;  // trees without a smaller loss on held-out rows before growing ends
};

/// Trees whose score is the log odds of +1, or the label. They start from the labels' log odds,
/// half a row added to either class, or from their mean. Growing ends early at a tree without a
/// split and, where rows are held out, after `patience` trees that did not help them; the trees
/// after the best loss there are dropped. In logistic loss a label of 0 stands for a record that
/// counts and contributes nothing (data::Rows), and is left out; other labels than -1 and +1 are
/// errors.
///
/// The same bits for the same rows, options and seed, whatever the number of threads.
Result<data::Trees> boost(const data::Rows& rows, const BoostOptions& options, int threads = 1,
                          const data::Rows* held_out = nullptr);

/// The mean loss of scores; for choosing among trees. Leaves out what `boost` leaves out; 0 if
/// nothing is left.
double mean_loss(const Losses& loss, std::span<const double> scores, const data::Rows& rows);

}  // namespace parley::learn
