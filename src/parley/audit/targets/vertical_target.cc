#include "parley/audit/targets/vertical_target.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "parley/audit/targets/vertical_worlds.h"
#include "parley/learn/vertical/integer_rows.h"
#include "parley/learn/vertical/joint_gradient.h"

namespace parley::audit {
namespace {

using charter::Charter;

constexpr size_t kOtherRows = 600;
constexpr double kShort = .25;  // of the others' records: they pull the model to the ball's edge

/// Of one owner: the first `changed` records lie along the model, or across it.
std::shared_ptr<const data::Rows> rows_of(double norm, size_t changed, World world) {
  auto rows = std::make_shared<data::Rows>(kColumns);
  for (size_t i = 0; i < kOtherRows + kControl; ++i) {
    if (i >= changed)
      rows->add(std::vector{kShort * norm, 0.}, -1);
    else if (world == World::kFirst)
      rows->add(std::vector{2 * norm, 0.}, 1);
    else
      rows->add(std::vector{0., 2 * norm}, 1);
  }
  return rows;
}

struct GradientWorlds {
  Charter charter;
  plan::VerticalTerms terms;
  size_t changed = 1;
  /// The same records as the training sees them, for each world and owner.
  std::vector<learn::IntegerRows> exact[2]{};
};

/// As the training sees them: cells without a dealer, else shortened and rounded.
learn::IntegerRows integers_of(const GradientWorlds& worlds, World world, size_t m) {
  const plan::VerticalTerms& terms = worlds.terms;
  const double norm = terms.plan.row_norms[m];
  const data::AnyRows rows(rows_of(norm, worlds.changed, world));
  if (terms.cells.empty()) return {rows, terms.plan.bits, norm};
  return std::move(terms.cells[m].integers(terms.cells[m].leaves(rows)).rows);
}

Result<GradientWorlds> worlds_of(const Charter& whole, size_t changed) {
  Charter charter = narrowed(whole, kOtherRows + kControl);
  auto terms = TRY(plan::vertical_terms(charter));
  GradientWorlds worlds{std::move(charter), std::move(terms), changed};
  for (const World world : {World::kFirst, World::kSecond})
    for (size_t m = 0; m < worlds.terms.columns.size(); ++m)
      worlds.exact[world == World::kSecond].push_back(integers_of(worlds, world, m));
  return worlds;
}

Result<VerticalJob> play(const GradientWorlds& worlds, World world, Entropy& entropy) {
  std::vector<data::AnyRows> rows;
  for (const double norm : worlds.terms.plan.row_norms)
    rows.emplace_back(rows_of(norm, worlds.changed, world));
  return play_vertical(worlds.charter, rows, entropy);
}

/// A party's scores of all records, and what a label of 1 is in them.
std::vector<uint64_t> scores_of(const plan::VerticalTerms& terms, const learn::IntegerRows& rows,
                                size_t m, std::span<const double> x) {
  const learn::JointPlan& plan = terms.plan;
  std::vector<uint64_t> all(rows.size());
  if (terms.grid) {
    const std::vector<int64_t> n = terms.grid->nearest(x);
    for (size_t i = 0; i < all.size(); ++i)
      for (size_t k = 0; k < rows.at(i).size(); ++k)
        all[i] += static_cast<uint64_t>(rows.values(i)[k] * n[rows.at(i)[k]]);
    return all;
  }
  const auto scores = rows.scores(x, plan.scale, plan.fraction, plan.row_norms[m] * plan.balls[m]);
  return {scores.begin(), scores.end()};
}

int64_t label_of(const plan::VerticalTerms& terms) {
  if (!terms.grid) return int64_t{1} << terms.plan.fraction;
  return terms.grid->kappa * static_cast<int64_t>(terms.grid->label.largest());
}

/// The exact gradients, of all owners, at these points.
std::vector<std::vector<double>> exact_at(const GradientWorlds& worlds, World world,
                                          const std::vector<learn::PartyDescent>& at) {
  const auto& rows = worlds.exact[world == World::kSecond];
  std::vector<uint64_t> all(worlds.terms.plan.rows);
  for (size_t m = 0; m < rows.size(); ++m) {
    const auto scores = scores_of(worlds.terms, rows[m], m, at[m].point());
    for (size_t i = 0; i < all.size(); ++i) all[i] += scores[i];
  }
  const int64_t label = label_of(worlds.terms);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] -= static_cast<uint64_t>(i < worlds.changed ? label : -label);
  std::vector<std::vector<double>> sums;
  for (const learn::IntegerRows& part : rows) {
    sums.emplace_back();
    for (const uint64_t word : part.combination(all))
      sums.back().push_back(static_cast<double>(static_cast<int64_t>(word)));
  }
  return sums;
}

/// The log of the likelihood ratio of all that was opened: no statistic tells more.
double score(const GradientWorlds& worlds, const VerticalJob& played) {
  const plan::VerticalTerms& terms = worlds.terms;
  std::vector<learn::PartyDescent> at;
  for (size_t m = 0; m < terms.plan.balls.size(); ++m) at.push_back(terms.descent(m));
  double total = 0;
  for (uint32_t round = 0; round < terms.rounds; ++round) {
    const auto first = exact_at(worlds, World::kFirst, at);
    const auto second = exact_at(worlds, World::kSecond, at);
    for (size_t m = 0; m < at.size(); ++m) {
      std::vector<double> gradient;
      for (size_t j = 0; j < kColumns; ++j) {
        const double opened = static_cast<double>(played.opened[m][round][j]);
        const double middle = (first[m][j] + second[m][j]) / 2;
        total += (opened - middle) * (second[m][j] - first[m][j]) / terms.noise.variance();
        gradient.push_back(opened * terms.unit());
      }
      at[m].take(gradient, terms.plan.rows);
    }
  }
  return total;
}

Play play_of(GradientWorlds worlds) {
  auto shared = std::make_shared<const GradientWorlds>(std::move(worlds));
  return [shared](World world, Entropy& entropy) -> Result<double> {
    return score(*shared, TRY(play(*shared, world, entropy)));
  };
}

}  // namespace

Result<Target> vertical_target(const Charter& charter, size_t owner) {
  check(owner < charter.owners.size());
  TRY(charter::check_protects(charter));
  if (charter.protocol.statistics()) return statistics_target(charter, owner);
  if (charter.protocol.rule() == charter::Rule::kNoisySharing) return noisy_target(charter, owner);
  const charter::Owner& who = charter.owners[owner];
  GradientWorlds one = TRY(worlds_of(charter, 1)), many = TRY(worlds_of(charter, kControl));
  SystemEntropy entropy;
  const VerticalJob played = TRY(play(one, World::kFirst, entropy));
  return Target{.kind = "charter",
                .name = who.name,
                .what =
                    "one record at all owners along the model or across it, by everyone who "
                    "sees all opened gradients",
                .claimed = {std::min(played.epsilon[owner], who.epsilon), who.delta, true},
                .play = play_of(std::move(one)),
                .control = play_of(std::move(many)),
                .control_name = "sixteen records instead of one"};
}

}  // namespace parley::audit
