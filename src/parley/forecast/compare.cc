// Pictures of a job: what owners would have to give, the scenarios of the first paper, and the
// forecast beside the papers' bounds and beside runs.
#include <algorithm>
#include <array>
#include <cmath>

#include "parley/forecast/predict/federated.h"
#include "parley/forecast/predict/pilot_runs.h"
#include "parley/forecast/predict/vertical.h"
#include "parley/forecast/propagate/bound.h"
#include "parley/forecast/study.h"

namespace parley::forecast {
namespace {

constexpr size_t kCurves = 6;  // owners that get one

double delta_of(const Study& study) { return study.charter.owners.front().delta; }

/// An owner of another number of rows and another epsilon in the same job.
Player player_of(const Study& study, double rows, double epsilon) {
  const double reach = plan::reach_of(study.charter) / rows;
  const double answers = static_cast<double>(study.charter.answers());
  return {rows, study.law.strength(epsilon, delta_of(study)) * reach * reach *
                    std::pow(answers, study.law.power())};
}

Job job_at(const Study& study, double strength) {
  Job job = study.job;
  for (size_t i = 0; i < job.variances.size(); ++i)
    job.variances[i] = strength * study.per_strength(i);
  if (auto* sync = std::get_if<SyncJob>(&job.kind)) sync->variance = job.variance();
  if (auto* async = std::get_if<AsyncJob>(&job.kind)) async->variances = job.variances;
  if (auto* local = std::get_if<FederatedJob>(&job.kind)) local->variance = job.variance();
  if (auto* shared = std::get_if<VerticalJob>(&job.kind)) shared->variance = job.variance();
  return job;
}

std::optional<double> by_runs(const Study& study, const Job& job, int threads) {
  if (const auto* sync = std::get_if<SyncJob>(&job.kind))
    return run_on_pilot(study.statistics, *sync, threads).excess / study.best;
  if (const auto* local = std::get_if<FederatedJob>(&job.kind))
    return run_on_pilot(study.statistics, *local).excess / study.best;
  if (const auto* shared = std::get_if<VerticalJob>(&job.kind))
    return mean_excess(study.statistics,
                       sharing_runs(study.statistics, *shared, shared->variance, 150)) /
           study.best;
  const auto* async = std::get_if<AsyncJob>(&job.kind);
  if (async == nullptr || async->variances.size() > kAsyncOwnersMax) return std::nullopt;
  return run_on_pilot(study.statistics, *async, false, threads).excess / study.best;
}

}  // namespace

void add_break_even(Forecast& result, const Study& study) {
  const size_t count = std::min(study.players.size(), kCurves);
  for (size_t i = 0; i < count; ++i)
    result.what_if.break_even.push_back({study.charter.owners[i].name, {}});
  if (study.players.size() < 2) return;
  for (const double epsilon : result.what_if.grid.epsilon) {
    const double strength = study.law.strength(epsilon, delta_of(study));
    std::vector<Player> players = study.players;
    for (size_t i = 0; i < players.size(); ++i)
      players[i].variance = strength * study.per_strength(i);
    const auto without = study.game.without_each(players);
    for (size_t i = 0; i < count; ++i) {
      const double alone = study.game.spread() / players[i].rows + study.differ;
      const double variance = study.game.variance_for(without[i], players[i], alone);
      auto& curve = result.what_if.break_even[i].epsilon;
      if (variance <= 0)
        curve.emplace_back(std::nullopt);
      else
        curve.emplace_back(
            std::isfinite(variance)
                ? study.law.epsilon(variance / study.per_strength(i), delta_of(study))
                : 0);
    }
  }
}

void add_scenarios(Forecast& result, const Study& study) {
  constexpr double kFirst = 1e5;
  const auto game = [&](GameWeights weights) {
    return Game(study.game.response(), study.game.spread(), study.game.alone(), weights,
                study.job.variance());
  };
  const Game by_rows = game(GameWeights::kRows), optimal = game(GameWeights::kOptimal);
  const std::array cases = {
      Forecast::Scenario{"(i) small and cautious", 10, 1e3, .1},
      Forecast::Scenario{"(ii) small and generous", 10, 1e3, 10},
      Forecast::Scenario{"(iii) large and cautious", 1, 1e5, .1},
      Forecast::Scenario{"(iv) large and generous", 1, 1e5, 10},
  };
  for (Forecast::Scenario scenario : cases) {
    const Player first = player_of(study, kFirst, scenario.epsilon);
    const Player other = player_of(study, scenario.others_rows, scenario.others_epsilon);
    const std::array all = {first, other, other};
    scenario.by_rows = by_rows.reached(by_rows.of(all));
    scenario.first_alone = by_rows.reached(by_rows.of(first));
    scenario.optimal = optimal.reached(optimal.of(all));
    result.what_if.scenarios.push_back(std::move(scenario));
  }
}

void add_comparison(Forecast& result, const Study& study, bool runs, int threads) {
  const Response& response = study.game.response();
  const double here = study.job.variance();
  std::vector<std::pair<double, double>> points;
  for (const double times : {1e-2, 1e-1, 1.0, 1e1, 1e2})
    points.emplace_back(times, response.at(times * here));
  const auto smooth = fit_bound(points, BoundForm::kSmooth);
  const auto general = fit_bound(points, BoundForm::kGeneral);
  const auto both = fit_bound(points, BoundForm::kAsync);
  result.comparison.smooth = smooth.at(1);
  result.comparison.general = general.at(1);
  result.comparison.both = both.at(1);
  if (runs) result.basis.others.push_back("pilot_monte_carlo");
  for (const double epsilon : {.03, .1, .3, 1.0, 3.0, 10.0, 30.0}) {
    const double strength = study.law.strength(epsilon, delta_of(study));
    const Job job = job_at(study, strength);
    const double variance = job.variance(), times = variance / here;
    Forecast::Comparison::Point point{.epsilon = epsilon,
                                      .forecast = response.at(variance),
                                      .smooth = smooth.at(times),
                                      .general = general.at(times),
                                      .both = both.at(times)};
    if (runs) point.runs = by_runs(study, job, threads);
    result.comparison.points.push_back(point);
  }
}

}  // namespace parley::forecast
