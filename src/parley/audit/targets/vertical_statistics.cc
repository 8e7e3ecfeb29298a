// Rule statistics: one release, of whole records.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "parley/audit/targets/vertical_worlds.h"
#include "parley/learn/vertical/integer_rows.h"

namespace parley::audit {
namespace {

using charter::Charter;

/// The first `changed` records have the other class in the second world: with rows no longer than
/// the label no two records are farther apart (learn/kernel/statistics_map.h).
Result<TwoWorlds> statistics_worlds(const Charter& whole, size_t changed) {
  Charter charter = narrowed(whole, kFew + kControl);
  auto terms = TRY(plan::vertical_terms(charter));
  const double other = terms.cells.empty() ? 0 : -1;  // Cells bound every column by itself.
  return with_rows(
      std::move(charter), std::move(terms),
      [other](double norm, size_t, World) { return std::vector{2 * norm, 2 * norm * other}; },
      [changed](size_t i, World world) { return i < changed && world == World::kSecond ? -1 : 1; });
}

/// What the training sees of an owner's rows.
learn::IntegerColumns integers_of(const TwoWorlds& worlds, const data::AnyRows& rows, size_t m) {
  const plan::VerticalTerms& terms = worlds.terms;
  if (!terms.cells.empty()) return terms.cells[m].integers(terms.cells[m].leaves(rows));
  learn::IntegerColumns made{learn::IntegerRows(rows, terms.plan.bits, terms.plan.row_norms[m])};
  for (size_t i = 0; m == terms.label_holder && i < terms.plan.rows; ++i)
    made.labels.push_back(
        static_cast<int64_t>(std::ldexp(std::get<0>(rows)->label(i), terms.plan.bits)));
  return made;
}

/// How much each product with the label tells, by its noise: without a dealer products of two
/// owners' columns have twice as much as an owner's own.
std::vector<double> weights_of(const plan::VerticalTerms& terms) {
  const learn::MomentsLayout layout(terms.columns, terms.label_holder);
  std::vector<double> weights;
  for (size_t m = 0; m < layout.parties(); ++m) {
    weights.insert(weights.end(), layout.own(m), 1);
    weights.insert(weights.end(), layout.with_later(m), terms.cells.empty() ? 1 : .5);
  }
  return weights;
}

/// The moments without noise, in the order of their release.
std::vector<double> exact_moments(const TwoWorlds& worlds, World world) {
  const auto& rows = worlds.rows[world == World::kSecond];
  const learn::JointPlan& plan = worlds.terms.plan;
  std::vector<std::vector<double>> z;  // by column, owner by owner; labels after their holder's
  std::vector<size_t> first;
  for (size_t m = 0; m < rows.size(); ++m) {
    const learn::IntegerColumns made = integers_of(worlds, rows[m], m);
    const learn::IntegerRows& integers = made.rows;
    first.push_back(z.size());
    z.resize(z.size() + kColumns, std::vector<double>(plan.rows));
    for (size_t i = 0; i < plan.rows; ++i)
      for (size_t k = 0; k < integers.at(i).size(); ++k)
        z[first[m] + integers.at(i)[k]][i] = double(integers.values(i)[k]);
    if (m != worlds.terms.label_holder) continue;
    z.emplace_back(made.labels.begin(), made.labels.end());
  }
  first.push_back(z.size());
  const auto dot = [&](size_t j, size_t k) {
    return std::inner_product(z[j].begin(), z[j].end(), z[k].begin(), 0.0);
  };
  std::vector<double> all;
  for (size_t m = 0; m < rows.size(); ++m) {
    for (size_t j = first[m]; j < first[m] + kColumns; ++j)
      for (size_t k = j; k < first[m] + kColumns; ++k) all.push_back(dot(j, k));
    for (size_t k = first[m] + kColumns; k < first[m + 1]; ++k)
      for (size_t j = first[m]; j < first[m] + kColumns; ++j) all.push_back(dot(j, k));
    for (size_t later = m + 1; later < rows.size(); ++later)
      for (size_t j = first[m]; j < first[m + 1]; ++j)
        for (size_t k = first[later]; k < first[later + 1]; ++k) all.push_back(dot(j, k));
  }
  return all;
}

/// Only products with the label differ: the likelihood ratio, up to scale.
Play statistics_play(TwoWorlds worlds) {
  auto shared = std::make_shared<const TwoWorlds>(std::move(worlds));
  const auto first = exact_moments(*shared, World::kFirst);
  const auto second = exact_moments(*shared, World::kSecond);
  const auto weights = weights_of(shared->terms);
  return [=](World world, Entropy& entropy) -> Result<double> {
    const auto& rows = shared->rows[world == World::kSecond];
    const VerticalJob job = TRY(play_vertical(shared->charter, rows, entropy));
    const protocol::Opened& opened = job.opened[0][0];
    check(opened.size() == first.size());
    double total = 0;
    for (size_t j = 0; j < opened.size(); ++j)
      total += weights[j] * (double(opened[j]) - first[j]) * (second[j] - first[j]);
    return total;
  };
}

}  // namespace

Result<Target> statistics_target(const Charter& charter, size_t owner) {
  const charter::Owner& who = charter.owners[owner];
  TwoWorlds one = TRY(statistics_worlds(charter, 1));
  SystemEntropy entropy;
  const auto job = TRY(play_vertical(one.charter, one.rows[0], entropy));
  return Target{.kind = "charter",
                .name = who.name,
                .what =
                    "one record at all owners of the one class or the other, in the released "
                    "moments",
                .claimed = {std::min(job.epsilon[owner], who.epsilon), who.delta, true},
                .play = statistics_play(std::move(one)),
                .control = statistics_play(TRY(statistics_worlds(charter, kControl))),
                .control_name = "sixteen records instead of one"};
}

}  // namespace parley::audit
