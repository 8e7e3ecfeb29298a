#include "parley/forecast/column_owners.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "parley/base/math/seeded_random.h"
#include "parley/forecast/trained_rows.h"
#include "parley/forecast/uncertainty.h"
#include "parley/forecast/value/verdict.h"

namespace parley::forecast {
namespace {

/// What an owner's own columns would reach, relative to the best of all.
struct Alone {
  double psi = 0;
  double error = 0;      // standard error of psi, relative to it
  PilotMetric metric{};  // of its best model
  double value = 0;      // of the one that all records give
};

Result<Alone> alone(const Study& study, const Views& views, size_t owner) {
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
  for (const PilotStatistics& view : views.statistics) {
    const double psi = part(view).optimum.fitness / view.optimum.fitness - 1;
    sum += psi, squares += psi * psi;
  }
  const auto count = static_cast<double>(views.statistics.size());
  if (count > 1 && sum > 0) {
    const double mean = sum / count, variance = std::max(squares / count - mean * mean, 0.0);
    found.error = std::min(std::sqrt(variance / (count - 1)) / mean, 1.0);
  }
  return found;
}

/// Joint against own columns. What the others' columns would bring without noise is known up to a
/// factor of the error of `own`, what noise and steps leave up to the interval of the joint model.
GainVerdict column_verdict(const Forecast& result, const Study& study, const Alone& own) {
  constexpr size_t kDraws = 2000;
  const RelativeFitness& psi = result.relative_fitness;
  const double runs = std::log(psi.high / psi.low) / (2 * kNormal);
  const double best = study.metric_at(0);
  SeededRandom random(1, 0);
  const auto factor = [&](double deviation) {
    return std::exp(deviation * random.normal() - deviation * deviation / 2);
  };
  std::vector<double> gains;
  for (size_t k = 0; k < kDraws; ++k) {
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

/// The epsilon from which the joint model is as good, the others' budgets being what they are.
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

Result<void> add_owners_of_columns(Forecast& result, const Study& study, const Views& views) {
  const auto count = static_cast<double>(study.charter.owners.size());
  for (size_t i = 0; i < study.charter.owners.size(); ++i) {
    const charter::Owner& who = study.charter.owners[i];
    const Alone own = TRY(alone(study, views, i));
    result.owners.push_back({.name = who.name,
                             .rows = static_cast<uint64_t>(study.rows),
                             .epsilon = who.epsilon,
                             .delta = who.delta,
                             .weight = 1 / count,
                             .alone = around(own.metric, own.value),
                             .joint = {result.metric.joint, result.metric.low, result.metric.high},
                             .against_alone = column_verdict(result, study, own),
                             .local_only = own.psi,
                             .break_even_epsilon = break_even(study, i, own.psi)});
    result.relative_fitness.statistical_gain -= own.psi / count;
  }
  return {};
}

/// How far above the best of all columns a group ends, noise included.
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

/// By mask; groups without the labels learn nothing. Not tried: not a number.
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
  const auto psi = TRY(psi_of_groups(study, result.relative_fitness.mean, all));
  const double endless = study.game.spread() / study.rows;
  size_t best = psi.size() - 1;
  for (size_t mask = 1; mask < psi.size(); ++mask)
    if (psi[mask] < psi[best]) best = mask;
  for (size_t mask = psi.size(); mask-- > 1;) {
    const bool one_missing = size_t(std::popcount(mask)) + 1 >= owners;
    if (!(one_missing || mask == best) || std::isnan(psi[mask])) continue;
    Forecast::Coalition coalition{{}, psi[mask] + endless, mask == best};
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
  const Views views = views_of(study.charter.model, study.statistics, {}, options.threads);
  TRY(add_owners_of_columns(result, study, views));
  TRY(add_groups(result, study));
  add_column_epsilons(result, study, options.target);
  return {};
}

}  // namespace parley::forecast
