#include "parley/forecast/column_owners.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "parley/forecast/joint.h"
#include "parley/forecast/trained_rows.h"
#include "parley/forecast/uncertainty.h"

namespace parley::forecast {
namespace {

/// What an owner's own columns would reach, relative to the best of all.
struct Alone {
  double psi = 0, metric = 0;
  double error = 0;  // standard error of psi, relative to it
};

Alone alone(const Study& study, const Views& views, size_t owner, int threads) {
  const std::vector<size_t> members = {owner};
  const charter::Charter own = charter_of(study.charter, members);
  const auto part = [&](const PilotStatistics& all) {
    return statistics_of(own.model, features_of(study.charter, *all.rows, members), 1);
  };
  const PilotStatistics statistics = part(study.statistics);
  Alone found{.psi = statistics.fitness(study.rows) / study.best - 1};
  std::vector<PilotStatistics> parts;
  double sum = 0, squares = 0;
  for (const PilotStatistics& view : views.statistics) {
    parts.push_back(part(view));
    const double psi = parts.back().optimum.fitness / view.optimum.fitness - 1;
    sum += psi, squares += psi * psi;
  }
  found.metric = MetricEstimator(own, statistics, parts, threads).of_rows(0);
  const auto count = static_cast<double>(parts.size());
  found.error = 1;
  if (count > 1 && sum > 0) {
    const double mean = sum / count, variance = std::max(squares / count - mean * mean, 0.0);
    found.error = std::sqrt(variance / (count - 1)) / mean;
  }
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

void add_column_owners(Forecast& result, const Study& study, const Views& views, int threads) {
  const auto count = static_cast<double>(study.charter.owners.size());
  for (size_t i = 0; i < study.charter.owners.size(); ++i) {
    const charter::Owner& who = study.charter.owners[i];
    const Alone own = alone(study, views, i, threads);
    result.owners.push_back({.name = who.name,
                             .rows = static_cast<uint64_t>(study.rows),
                             .epsilon = who.epsilon,
                             .delta = who.delta,
                             .weight = 1 / count,
                             .local_only = own.psi,
                             .local_metric = own.metric,
                             .gains = result.relative_fitness.mean < own.psi,
                             .sure = surely(result.relative_fitness, own.psi, own.error),
                             .break_even_epsilon = break_even(study, i, own.psi)});
    result.relative_fitness.statistical_gain -= own.psi / count;
  }
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
  add_column_owners(result, study, views, options.threads);
  TRY(add_groups(result, study));
  add_column_epsilons(result, study, options.target);
  return {};
}

}  // namespace parley::forecast
