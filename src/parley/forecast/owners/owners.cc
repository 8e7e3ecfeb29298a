// For whom it pays, and at which epsilon: owners that hold rows, then owners that hold columns.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "parley/base/math/seeded_random.h"
#include "parley/base/memory/parallel.h"
#include "parley/forecast/decide/game.h"
#include "parley/forecast/owners/verdict.h"
#include "parley/forecast/pilot/metric.h"
#include "parley/forecast/pilot/statistics.h"
#include "parley/forecast/study.h"
#include "parley/forecast/uncertainty.h"

namespace parley::forecast {
namespace {

/// dQ in its two parts, by where the joint model is expected.
Parts noise_of(const Study& study) {
  const double all = 2 * study.prediction.excess;
  const PilotStatistics& pilot = study.statistics;
  if (!pilot.bias) return {.slopes = all};
  const OutputDistribution& models = study.prediction.distribution;
  const size_t p = pilot.dimension();
  double total = 0, shift = 0, variance = 0;  // of H (model - best) and its covariance
  const double* at_bias = &pilot.hessian[*pilot.bias * p];
  for (size_t j = 0; j < p; ++j) {
    const double off = models.mean[j] - pilot.optimum.theta[j];
    shift += at_bias[j] * off;
    for (size_t k = 0; k < p; ++k) {
      const double other = models.mean[k] - pilot.optimum.theta[k];
      total += pilot.hessian[j * p + k] * (off * other + models.covariance[j * p + k]);
      variance += at_bias[j] * at_bias[k] * models.covariance[j * p + k];
    }
  }
  const double intercept = (shift * shift + variance) / at_bias[*pilot.bias];
  const double share = total > 0 ? std::clamp(intercept / total, 0.0, 1.0) : 0;
  return {.slopes = all * (1 - share), .intercept = all * share};
}

/// All that the owners' cases have in common.
OwnerCase common_case(const Study& study, std::span<const double> rows) {
  return {.pilot = study.distances,
          .metric = study.metric,
          .tau = study.tau,
          .joint_rows = joint_rows(rows, study.job.weights),
          .noise = noise_of(study),
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

/// Break-even epsilons and Shapley values, in the papers' measure.
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
      owner.break_even_epsilon = 0;  // Its weight is so small that any noise will do.
    result.owners.push_back(std::move(owner));
  }
}

void add_coalitions(Forecast& result, const Study& study) {
  const auto add = [&](const std::vector<size_t>& members, double psi, bool best) {
    WhatIf::Coalition coalition{{}, psi, best};
    for (size_t i : members) coalition.members.push_back(study.charter.owners[i].name);
    result.what_if.coalitions.push_back(std::move(coalition));
  };
  const GroupTotals all = study.game.of(study.players);
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
  result.what_if.break_even = break_even_of(study, result.what_if.grid);
  if (!study.job.strictest) result.what_if.scenarios = scenarios_of(study);
}

namespace {

/// Groups are tried one by one up to so many owners of columns; beyond, only those that miss one.
constexpr size_t kColumnOwnersTried = 6;

/// What an owner's own columns would reach, relative to the best of all.
struct Alone {
  double psi = 0;
  double error = 0;      // standard error of psi, relative to it
  PilotMetric metric{};  // of its best model
  double value = 0;      // of the model of all records
};

Result<Alone> alone(const Study& study, const Resamples& resamples, size_t owner) {
  const std::vector<size_t> members = {owner};
  const charter::Charter own = charter_of(study.charter, members);
  const auto part = [&](const PilotStatistics& all) {
    return statistics_of(own.model, features_of(study.charter, *all.rows, members), 1);
  };
  const PilotStatistics statistics = part(study.statistics);
  Alone found{.psi = statistics.fitness(study.rows) / study.best - 1, .error = 1};
  found.metric = TRY(pilot_metric(statistics, pilot_scores(statistics), study.metric.measure,
                                  study.charter.schema.target.scale));
  found.value = found.metric.at(statistics.sampling / study.rows);
  double sum = 0, squares = 0;
  for (const PilotStatistics& resample : resamples.statistics) {
    const double psi = part(resample).optimum.fitness / resample.optimum.fitness - 1;
    sum += psi, squares += psi * psi;
  }
  const auto count = static_cast<double>(resamples.statistics.size());
  if (count > 1 && sum > 0) {
    const double mean = sum / count, variance = std::max(squares / count - mean * mean, 0.0);
    found.error = std::min(std::sqrt(variance / (count - 1)) / mean, 1.0);
  }
  return found;
}

/// Joint model against own columns. Drawn: the gain of the others' columns without noise, times a
/// factor with the error of `own`; the joint model's excess, within its interval.
GainVerdict column_verdict(const Forecast& result, const Study& study, const Alone& own) {
  constexpr size_t kGainDraws = 2000;
  const RelativeFitness& psi = result.joint.relative_fitness;
  const double runs = std::log(psi.high / psi.low) / (2 * kNormal);
  const double best = study.metric_at(0);
  SeededRandom random(1, 0);
  const auto factor = [&](double deviation) {
    return std::exp(deviation * random.normal() - deviation * deviation / 2);
  };
  std::vector<double> gains;
  for (size_t k = 0; k < kGainDraws; ++k) {
    const double joint = study.metric_at(psi.mean * factor(runs));
    const double alone = study.metric.within(best + (own.value - best) * factor(own.error));
    gains.push_back(!smaller_is_better(study.metric.measure) ? joint - alone
                    : alone > 0                              ? (alone - joint) / alone
                                                             : 0);
  }
  GainVerdict found =
      verdict_of(GainAgainst::kAlone, gains, study.worth, study.metric.measure, own.value);
  found.alike = false;  // Owners hold columns of the same records.
  return found;
}

/// The epsilon from which the joint model is as good as own columns, others' budgets unchanged.
std::optional<double> break_even(const Study& study, size_t owner, double psi) {
  double others = 0;  // what the strictest of them needs
  for (size_t i = 0; i < study.charter.owners.size(); ++i)
    if (i != owner)
      others = std::max(others, study.law.strength(study.charter.owners[i].epsilon,
                                                   study.charter.owners[i].delta));
  const Response& response = study.game.response();
  if (response.at(others * study.per_strength(0)) > psi) return std::nullopt;
  const double variance = response.variance_for(psi);
  if (!(variance > 0)) return std::nullopt;
  return study.law.epsilon(variance / study.per_strength(0), study.charter.owners[owner].delta);
}

MetricRange around(const PilotMetric& metric, double value) {
  return {value, metric.within(value - kNormal * metric.error),
          metric.within(value + kNormal * metric.error)};
}

Result<void> add_owners_of_columns(Forecast& result, const Study& study,
                                   const Resamples& resamples) {
  const auto count = static_cast<double>(study.charter.owners.size());
  const MetricForecast& metric = result.joint.metric;
  for (size_t i = 0; i < study.charter.owners.size(); ++i) {
    const charter::Owner& who = study.charter.owners[i];
    const Alone own = TRY(alone(study, resamples, i));
    result.owners.push_back({.name = who.name,
                             .rows = static_cast<uint64_t>(study.rows),
                             .epsilon = who.epsilon,
                             .delta = who.delta,
                             .weight = 1 / count,
                             .alone = around(own.metric, own.value),
                             .joint = {metric.joint, metric.low, metric.high},
                             .against_alone = column_verdict(result, study, own),
                             .local_only = own.psi,
                             .break_even_epsilon = break_even(study, i, own.psi)});
    result.joint.relative_fitness.statistical_gain -= own.psi / count;
  }
  return {};
}

/// Relative fitness of a group against the best model of all columns, noise included.
Result<double> psi_of(const Study& study, const std::vector<size_t>& members) {
  const charter::Charter group = charter_of(study.charter, members);
  const PilotStatistics statistics =
      statistics_of(group.model, features_of(study.charter, *study.statistics.rows, members), 1);
  const Job job = TRY(job_of(group, statistics));
  return (statistics.fitness(study.rows) + predict(statistics, job, {}).excess) / study.best - 1;
}

std::vector<size_t> members_of(size_t mask) {
  std::vector<size_t> members;
  for (size_t i = 0; mask >> i; ++i)
    if (mask >> i & 1) members.push_back(i);
  return members;
}

/// By bit mask of members; groups without the label holder learn nothing. NaN: not tried.
Result<std::vector<double>> psi_of_groups(const Study& study, double joint, bool all) {
  const size_t owners = study.charter.owners.size(), everyone = (size_t{1} << owners) - 1;
  const size_t label = size_t{1} << label_holder(study.charter);
  double nothing = 0;
  for (size_t i = 0; i < study.statistics.rows->size(); ++i)
    nothing += std::pow(study.statistics.rows->label(i), 2) / study.statistics.count();
  std::vector<double> psi(everyone + 1, std::numeric_limits<double>::quiet_NaN());
  for (size_t mask = 0; mask <= everyone; ++mask) {
    const bool tried = all || size_t(std::popcount(mask)) + 1 >= owners;
    if (mask == everyone)
      psi[mask] = joint;
    else if (!(mask & label))
      psi[mask] = nothing / study.best - 1;
    else if (tried)
      psi[mask] = TRY(psi_of(study, members_of(mask)));
  }
  return psi;
}

void add_shapley(Forecast& result, const std::vector<double>& psi) {
  const size_t n = result.owners.size();
  std::vector<double> weight(n, 1 / static_cast<double>(n));  // |S|! (n - 1 - |S|)! / n!
  for (size_t k = 1; k < n; ++k)
    weight[k] = weight[k - 1] * static_cast<double>(k) / static_cast<double>(n - k);
  for (size_t mask = 0; mask < psi.size(); ++mask)
    for (size_t i = 0; i < n; ++i)
      if (!(mask >> i & 1))
        result.owners[i].shapley +=
            weight[size_t(std::popcount(mask))] * (psi[mask] - psi[mask | size_t{1} << i]);
}

Result<void> add_groups(Forecast& result, const Study& study) {
  const size_t owners = result.owners.size();
  if (owners > 20) return {};
  const bool all = owners <= kColumnOwnersTried;
  const auto psi = TRY(psi_of_groups(study, result.joint.relative_fitness.mean, all));
  const double endless = study.game.spread() / study.rows;
  size_t best = psi.size() - 1;
  for (size_t mask = 1; mask < psi.size(); ++mask)
    if (psi[mask] < psi[best]) best = mask;
  for (size_t mask = psi.size(); mask-- > 1;) {
    const bool one_missing = size_t(std::popcount(mask)) + 1 >= owners;
    if (!(one_missing || mask == best) || std::isnan(psi[mask])) continue;
    WhatIf::Coalition coalition{{}, psi[mask] + endless, mask == best};
    for (const size_t i : members_of(mask)) coalition.members.push_back(result.owners[i].name);
    result.what_if.coalitions.push_back(std::move(coalition));
  }
  if (all) add_shapley(result, psi);
  return {};
}

void add_column_epsilons(Forecast& result, const Study& study,
                         const std::optional<double>& target) {
  EpsilonForecast& epsilons = result.epsilons;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& owner : result.owners) least = std::min(least, owner.local_only);
  const double endless = study.game.spread() / study.rows, floor = study.game.response().floor();
  epsilons.smallest_common = common_epsilon(study, (least + endless) * (1 - 1e-9));
  epsilons.enough = common_epsilon(study, floor + endless + .1 * (least - floor));
  epsilons.target = target;
  if (!target) return;
  epsilons.for_target = common_epsilon(study, *target + endless);
  epsilons.rows_for_target = rows_for(study, *target);
}

}  // namespace

Result<void> add_column_owners(Forecast& result, const Study& study,
                               const ForecastOptions& options) {
  const Resamples resamples =
      resamples_of(study.charter.model, study.statistics, {}, options.threads);
  TRY(add_owners_of_columns(result, study, resamples));
  TRY(add_groups(result, study));
  add_column_epsilons(result, study, options.target);
  return {};
}

}  // namespace parley::forecast
