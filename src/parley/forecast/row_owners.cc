#include "parley/forecast/row_owners.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/base/memory/parallel.h"
#include "parley/forecast/decide/coalitions.h"
#include "parley/forecast/value/pilot_distances.h"
#include "parley/forecast/value/verdict.h"

namespace parley::forecast {
namespace {

/// All that the owners' cases have in common.
OwnerCase common_case(const Study& study, std::span<const double> rows) {
  return {.pilot = pilot_distances(study.statistics, study.scores),
          .metric = study.metric,
          .tau = study.tau,
          .joint_rows = joint_rows(rows, study.job.weights),
          .noise = 2 * study.prediction.excess,
          .rows_per_column = rows_per_column(study.statistics),
          .worth = study.worth};
}

/// What every owner can expect on its own population.
void add_figures(Forecast& result, const Study& study, int threads) {
  std::vector<double> rows;
  for (const Player& player : study.players) rows.push_back(player.rows);
  const OwnerCase common = common_case(study, rows);
  each_in_parallel(threads, rows.size(), [&](size_t i) {
    OwnerCase owner = common;
    owner.place = place_of(i, rows, study.job.weights);
    const OwnerValue value = owner_value(owner);
    Forecast::Owner& found = result.owners[i];
    found.alone = value.alone, found.own_public = value.own_public;
    found.joint = value.joint, found.personal = value.personal;
    found.against_alone = value.against_alone;
    found.against_own_public = value.against_own_public;
  });
}

/// By the papers' measure.
void add_owners(Forecast& result, const Study& study) {
  const auto shares = shapley(study.game, study.players);
  const auto without = study.game.without_each(study.players);
  for (size_t i = 0; i < study.players.size(); ++i) {
    const charter::Owner& who = study.charter.owners[i];
    const double alone = study.game.spread() / study.players[i].rows + study.differ;
    const double variance = study.game.variance_for(without[i], study.players[i], alone);
    Forecast::Owner owner{.name = who.name,
                          .rows = static_cast<uint64_t>(who.rows),
                          .epsilon = who.epsilon,
                          .delta = who.delta,
                          .weight = study.job.weights[i],
                          .local_only = alone - study.game.spread() / study.rows,
                          .shapley = shares[i].value,
                          .shapley_error = shares[i].standard_error};
    if (variance > 0 && std::isfinite(variance))
      owner.break_even_epsilon = study.law.epsilon(variance / study.per_strength(i), who.delta);
    else if (variance > 0)
      owner.break_even_epsilon = 0;  // It counts for so little that any noise will do.
    result.owners.push_back(std::move(owner));
  }
}

void add_coalitions(Forecast& result, const Study& study) {
  const auto add = [&](const std::vector<size_t>& members, double psi, bool best) {
    Forecast::Coalition coalition{{}, psi, best};
    for (size_t i : members) coalition.members.push_back(study.charter.owners[i].name);
    result.what_if.coalitions.push_back(std::move(coalition));
  };
  const Tally all = study.game.of(study.players);
  const Coalition best = best_coalition(study.game, study.players);
  std::vector<size_t> everyone(study.players.size());
  for (size_t i = 0; i < everyone.size(); ++i) everyone[i] = i;
  add(everyone, study.game.reached(all), best.members == everyone);
  if (best.members != everyone) add(best.members, best.psi, true);
  if (everyone.size() < 2 || everyone.size() > kEnumerated) return;
  const auto without = study.game.without_each(study.players);
  for (size_t left_out = 0; left_out < everyone.size(); ++left_out) {
    std::vector<size_t> members = everyone;
    members.erase(members.begin() + static_cast<std::ptrdiff_t>(left_out));
    if (members != best.members) add(members, study.game.reached(without[left_out]), false);
  }
}

void add_epsilons(Forecast& result, const Study& study, const std::optional<double>& target) {
  EpsilonForecast& epsilons = result.epsilons;
  double least = std::numeric_limits<double>::infinity();
  for (const Player& player : study.players)
    least = std::min(least, study.game.spread() / player.rows + study.differ);
  epsilons.smallest_common = common_epsilon(study, least * (1 - 1e-9));
  const double floor = study.game.response().floor() + study.game.spread() / study.rows;
  epsilons.enough = common_epsilon(study, floor + .1 * (least - floor));
  epsilons.target = target;
  if (!target) return;
  epsilons.for_target = common_epsilon(study, *target + study.game.spread() / study.rows);
  epsilons.rows_for_target = rows_for(study, *target);
}

}  // namespace

void add_row_owners(Forecast& result, const Study& study, const ForecastOptions& options) {
  add_owners(result, study);
  add_figures(result, study, options.threads);
  add_coalitions(result, study);
  add_epsilons(result, study, options.target);
  add_break_even(result, study);
  if (!study.job.strictest) add_scenarios(result, study);
}

}  // namespace parley::forecast
