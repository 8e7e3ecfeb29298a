// The boosted trees that an owner can train without the others; part of the figures "alone" and
// "own + public".
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "parley/learn/trees/boost.h"

namespace parley::learn {

/// What an owner chooses among, fixed beforehand for tables of some hundred to some thousand rows.
inline constexpr std::array<BoostOptions, 3> kOwnerSettings = {
    BoostOptions{.trees = 60,
                 .learning_rate = .08,
                 .limits = {.depth = 4, .leaves = 8, .leaf_rows = 15, .l2 = 1}},
    BoostOptions{.trees = 40,
                 .learning_rate = .06,
                 .limits = {.depth = 4, .leaves = 6, .leaf_rows = 20, .l2 = 5}},
    BoostOptions{.trees = 100,
                 .learning_rate = .05,
                 .limits = {.depth = 3, .leaves = 4, .leaf_rows = 10, .l2 = 1}}};

struct OwnerTrees {
  data::Trees trees{};  // of all rows, with the chosen setting
  size_t setting = 0;   // in kOwnerSettings
  /// On held-out own rows, one mean loss per setting; empty if nothing was held out.
  std::vector<double> losses{};
  /// Of the chosen setting, over all own rows, each predicted without its part; infinite if nothing
  /// was held out.
  double loss = std::numeric_limits<double>::infinity();
};

/// Own rows are divided into five parts by the seed; parts are held out in turn until 1,000 rows
/// were, or all. The setting with the smallest mean loss there is taken, of equal ones the first,
/// and trees are grown on all rows. Rows of `public_rows` are added to what trees are grown on and
/// never judge: the owner wants the best for its own people. Fewer than ten own rows judge nothing:
/// the first setting then. The same bits whatever the number of threads.
Result<OwnerTrees> boosted_for_owner(const data::Rows& own, const data::Rows* public_rows,
                                     const Losses& loss, uint64_t seed, int threads = 1);

}  // namespace parley::learn
