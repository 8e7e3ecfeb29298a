// Divides rows into folds for cross-validation, from a seed, so that all candidates that are
// compared use the same folds; and sets rows aside for evaluation, which no candidate is trained
// on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "parley/data/any_rows.h"

namespace parley::learn {

/// Five folds, or one per row if there are fewer; below 300 rows all of it three times, because one
/// division of so few rows says little.
struct FoldPlan {
  size_t folds = 5, repeats = 1;
};
FoldPlan fold_plan(size_t rows);

/// The fold of each row: a random division, of sizes that differ by at most one. Each repeat is
/// another division.
std::vector<size_t> fold_of_rows(size_t rows, size_t folds, uint64_t seed, size_t repeat);

/// The rows with use[i], as rows of the same kind.
data::AnyRows chosen_rows(const data::AnyRows& rows, const std::vector<bool>& use);

/// Rows to train on, and rows to judge by.
struct DividedRows {
  data::AnyRows kept{}, held_out{};
};
/// About that part of the rows, one fold of 1/part by the seed; of a single row none. 0 < part <=
/// 1/2.
DividedRows hold_out(const data::AnyRows& rows, double part, uint64_t seed);

}  // namespace parley::learn
