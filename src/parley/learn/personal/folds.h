// Folds for cross-validation, from a seed: the same for every kind of candidate that is compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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

}  // namespace parley::learn
