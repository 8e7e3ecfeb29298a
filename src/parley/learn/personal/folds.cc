#include "parley/learn/personal/folds.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "parley/base/math/seeded_random.h"
#include "parley/base/result.h"

namespace parley::learn {
namespace {

std::shared_ptr<const data::Rows> chosen(const data::Rows& rows, const std::vector<bool>& use) {
  auto found = std::make_shared<data::Rows>(rows.columns());
  for (size_t i = 0; i < rows.size(); ++i)
    if (use[i]) found->add(rows.row(i), rows.label(i));
  return found;
}

std::shared_ptr<const data::SparseRows> chosen(const data::SparseRows& rows,
                                               const std::vector<bool>& use) {
  auto found = std::make_shared<data::SparseRows>(rows.columns());
  for (size_t i = 0; i < rows.size(); ++i)
    if (use[i]) found->add(rows.row_indices(i), rows.row_values(i), rows.label(i));
  return found;
}

}  // namespace

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

data::AnyRows chosen_rows(const data::AnyRows& rows, const std::vector<bool>& use) {
  return std::visit([&](const auto& kind) { return data::AnyRows(chosen(*kind, use)); }, rows);
}

DividedRows hold_out(const data::AnyRows& rows, double part, uint64_t seed) {
  const size_t all = data::size_of(rows);
  const auto folds = static_cast<size_t>(std::llround(1 / part));
  const auto fold = fold_of_rows(all, std::min(folds, all), seed, 0);
  std::vector<bool> kept(all), out(all);
  for (size_t k = 0; k < all; ++k) out[k] = all > 1 && fold[k] == 0, kept[k] = !out[k];
  return {chosen_rows(rows, kept), chosen_rows(rows, out)};
}

}  // namespace parley::learn
