#include "parley/learn/personal/folds.h"

#include <algorithm>
#include <utility>

#include "parley/base/math/seeded_random.h"
#include "parley/base/result.h"

namespace parley::learn {

FoldPlan fold_plan(size_t rows) {
  constexpr size_t kFolds = 5, kRepeats = 3, kFewRows = 300;
  return {.folds = std::min(kFolds, rows), .repeats = rows < kFewRows ? kRepeats : 1};
}

std::vector<size_t> fold_of_rows(size_t rows, size_t folds, uint64_t seed, size_t repeat) {
  check(folds > 0);
  SeededRandom random(seed, repeat);
  std::vector<size_t> fold(rows);
  for (size_t i = 0; i < rows; ++i) fold[i] = i % folds;
  for (size_t i = rows; i > 1; --i) std::swap(fold[i - 1], fold[random.word() % i]);
  return fold;
}

}  // namespace parley::learn
