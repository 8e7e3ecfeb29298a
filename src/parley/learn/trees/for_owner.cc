#include "parley/learn/trees/for_owner.h"

#include <algorithm>
#include <span>
#include <utility>

#include "parley/base/math/seeded_random.h"
#include "parley/base/memory/parallel.h"
#include "parley/data/trees/leaves.h"

namespace parley::learn {
namespace {

constexpr size_t kParts = 5;
constexpr size_t kJudges = 1000;  // held-out rows that are enough to choose a setting
constexpr size_t kFewest = 2 * kParts;

void add_all(const data::Rows& from, data::Rows& to) {
  for (size_t i = 0; i < from.size(); ++i) to.add(from.row(i), from.label(i));
}

/// A row's part: parts are equally large, up to one row.
std::vector<size_t> parts_of(size_t rows, uint64_t seed) {
  std::vector<size_t> parts(rows);
  for (size_t i = 0; i < rows; ++i) parts[i] = i % kParts;
  SeededRandom random(seed, 0);
  for (size_t i = rows; i > 1; --i)
    std::swap(parts[i - 1], parts[static_cast<size_t>(random.index(static_cast<int>(i)))]);
  return parts;
}

/// A part held out, and the other rows to grow trees on.
struct Division {
  data::Rows grow, judge;
};

Division divided(const data::Rows& own, const data::Rows* public_rows,
                 std::span<const size_t> parts, size_t part) {
  Division division{data::Rows(own.columns()), data::Rows(own.columns())};
  for (size_t i = 0; i < own.size(); ++i)
    (parts[i] == part ? division.judge : division.grow).add(own.row(i), own.label(i));
  if (public_rows) add_all(*public_rows, division.grow);
  return division;
}

BoostOptions with_loss(BoostOptions setting, const Losses& loss, uint64_t seed) {
  setting.loss = loss;
  setting.seed = seed;
  return setting;
}

struct Task {
  const data::Rows& own;
  const data::Rows* public_rows;
  const Losses& loss;
  uint64_t seed;
  int threads;
};

/// The mean loss of each setting over the first `turns` parts.
Result<std::vector<double>> judged(const Task& task, std::span<const BoostOptions> settings,
                                   size_t turns) {
  const std::vector<size_t> parts = parts_of(task.own.size(), task.seed);
  std::vector<Division> divisions;
  for (size_t turn = 0; turn < turns; ++turn)
    divisions.push_back(divided(task.own, task.public_rows, parts, turn));
  std::vector<Result<double>> found(turns * settings.size(), 0.0);
  each_in_parallel(task.threads, found.size(), [&](size_t k) {
    const Division& division = divisions[k / settings.size()];
    const auto& setting = settings[k % settings.size()];
    const auto trees = boost(division.grow, with_loss(setting, task.loss, task.seed));
    found[k] = trees
                   ? Result(mean_loss(task.loss, scores_of(*trees, division.judge), division.judge))
                   : trees.error();
  });
  std::vector<double> losses(settings.size());
  for (size_t k = 0; k < found.size(); ++k)
    losses[k % settings.size()] += TRY(found[k]) / static_cast<double>(turns);
  return losses;
}

/// A few parts choose the setting; all of them then judge it.
Result<void> choose(const Task& task, OwnerTrees& chosen) {
  const size_t each = task.own.size() / kParts;
  const size_t turns = std::min(kParts, (kJudges + each - 1) / each);
  chosen.losses = TRY(judged(task, kOwnerSettings, turns));
  const auto best = std::min_element(chosen.losses.begin(), chosen.losses.end());
  chosen.setting = static_cast<size_t>(best - chosen.losses.begin());
  chosen.loss = *best;
  if (turns < kParts)
    chosen.loss = TRY(judged(task, {&kOwnerSettings[chosen.setting], 1}, kParts))[0];
  return {};
}

}  // namespace

Result<OwnerTrees> boosted_for_owner(const data::Rows& own, const data::Rows* public_rows,
                                     const Losses& loss, uint64_t seed, int threads) {
  check(!public_rows || public_rows->columns() == own.columns());
  OwnerTrees chosen;
  if (own.size() >= kFewest) TRY(choose({own, public_rows, loss, seed, threads}, chosen));
  data::Rows all(own.columns());
  add_all(own, all);
  if (public_rows) add_all(*public_rows, all);
  chosen.trees = TRY(boost(all, with_loss(kOwnerSettings[chosen.setting], loss, seed), threads));
  return chosen;
}

}  // namespace parley::learn
