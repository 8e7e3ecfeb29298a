// What if: other budgets for everyone, other numbers of rows, budgets for sale; the scenarios of Wu
// et al.; and the forecast beside the papers' bounds and beside runs.
#include <algorithm>
#include <array>
#include <cmath>

#include "parley/charter/available.h"
#include "parley/forecast/decide/market.h"
#include "parley/forecast/predict/predict.h"
#include "parley/forecast/propagate/moments.h"
#include "parley/forecast/study.h"

namespace parley::forecast {

std::optional<double> common_epsilon(const Study& study, double psi) {
  const auto reached = [&](double log_strength) {
    std::vector<Player> players = study.players;
    for (size_t i = 0; i < players.size(); ++i)
      players[i].variance = std::exp(log_strength) * study.per_strength(i);
    return study.game.reached(study.game.of(players));
  };
  double low = -60, high = 120;
  if (reached(low) > psi) return std::nullopt;
  while (high - low > 1e-9) {
    const double middle = (low + high) / 2;
    (reached(middle) <= psi ? low : high) = middle;
  }
  return study.law.epsilon(std::exp(low), study.charter.owners.front().delta);
}

std::optional<double> rows_for(const Study& study, double psi) {
  const auto reached = [&](double log_times) {
    std::vector<Player> players = study.players;
    for (Player& player : players) {
      player.rows *= std::exp(log_times);
      if (study.charter.protocol.by_record()) player.variance *= std::exp(-2 * log_times);
    }
    return study.game.reached(study.game.of(players)) -
           study.game.spread() / (study.rows * std::exp(log_times));
  };
  double low = -20, high = 30;
  if (reached(high) > psi) return std::nullopt;
  while (high - low > 1e-9) {
    const double middle = (low + high) / 2;
    (reached(middle) <= psi ? high : low) = middle;
  }
  return study.rows * std::exp(high);
}

WhatIf::Grid grid_of(const Study& study) {
  constexpr size_t kSide = 40;
  WhatIf::Grid grid;
  for (size_t k = 0; k < kSide; ++k) {
    const double along = static_cast<double>(k) / (kSide - 1);
    grid.epsilon.push_back(.01 * std::pow(1e4, along));  // 0.01 to 100
    grid.times.push_back(.1 * std::pow(100, along));     // a tenth to ten times
  }
  const double delta = study.charter.owners.front().delta;
  std::vector<double> strength;
  for (const double epsilon : grid.epsilon) strength.push_back(study.law.strength(epsilon, delta));
  std::vector<Player> players = study.players;
  for (const double times : grid.times)
    for (const double noise : strength) {
      for (size_t i = 0; i < players.size(); ++i) {
        players[i].rows = study.players[i].rows * times;
        players[i].variance = noise * study.per_strength(i, times);
      }
      grid.psi.push_back(study.game.reached(study.game.of(players)) -
                         study.game.spread() / (study.rows * times));
    }
  return grid;
}

namespace {

Result<std::vector<Bid>> bids_of(const Study& study, const MarketTerms& terms) {
  std::vector<Bid> bids;
  for (const charter::Owner& owner : study.charter.owners) {
    const auto asked = std::find_if(terms.prices.begin(), terms.prices.end(),
                                    [&](const auto& price) { return price.first == owner.name; });
    if (asked == terms.prices.end() || !(asked->second > 0))
      return Error{Code::kInvalid, owner.name + " asks no price above 0 for a unit of epsilon",
                   "Give --price " + owner.name + "=PRICE, for every owner."};
    bids.push_back({static_cast<double>(owner.rows), asked->second, owner.epsilon});
  }
  return bids;
}

}  // namespace

/// An owner's epsilon in the charter is the most it sells.
Result<WhatIf::Market> market_of(const Study& study, const MarketTerms& terms) {
  const charter::Privacy& privacy = study.charter.privacy;
  if (privacy.mechanism != charter::MechanismName::kLaplace)
    return charter::not_available("privacy.mechanism", name_of(privacy.mechanism),
                                  "The market is made for \"laplace\".");
  if (study.charter.protocol.weights != charter::Weights::kRows)
    return charter::not_available("protocol.weights", name_of(study.charter.protocol.weights),
                                  "The market is made for weights \"rows\".");
  const std::vector<Bid> bids = TRY(bids_of(study, terms));
  if (!(terms.value > 0) || !(terms.cap > 0))
    return Error{Code::kInvalid, "a market needs a value above 0, and a cap on prices above 0",
                 "Give --value, and --price cap=PRICE: the most that anyone may ask."};
  const double unit = study.law.strength(1, 0) * study.per_strength(0) * study.players[0].rows *
                      study.players[0].rows;
  Demand demand{.value = terms.value,
                .floor = study.game.response().floor(),
                .spread = study.game.spread(),
                .gain = study.game.response().gain(study.job.variance()) * unit,
                .alone = study.game.alone(),
                .price_cap = terms.cap};
  const Deal deal = buy(demand, bids);
  const auto posted = negotiate(demand, bids);
  WhatIf::Market market{.value = terms.value, .psi = deal.psi, .surplus = deal.surplus};
  for (size_t i = 0; i < bids.size(); ++i)
    market.sales.push_back({bids[i].price, deal.epsilon[i], deal.payments[i], posted[i]});
  return market;
}

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
                       vertical_runs(study.statistics, *shared, shared->variance, 150).models) /
           study.best;
  const auto* async = std::get_if<AsyncJob>(&job.kind);
  if (async == nullptr || async->variances.size() > kAsyncOwnersMax) return std::nullopt;
  return run_on_pilot(study.statistics, *async, false, threads).excess / study.best;
}

}  // namespace

std::vector<WhatIf::BreakEven> break_even_of(const Study& study, const WhatIf::Grid& grid) {
  const size_t count = std::min(study.players.size(), kCurves);
  std::vector<WhatIf::BreakEven> curves;
  for (size_t i = 0; i < count; ++i) curves.push_back({study.charter.owners[i].name, {}});
  if (study.players.size() < 2) return curves;
  for (const double epsilon : grid.epsilon) {
    const double strength = study.law.strength(epsilon, delta_of(study));
    std::vector<Player> players = study.players;
    for (size_t i = 0; i < players.size(); ++i)
      players[i].variance = strength * study.per_strength(i);
    const auto without = study.game.without_each(players);
    for (size_t i = 0; i < count; ++i) {
      const double alone = study.game.spread() / players[i].rows + study.differ;
      const double variance = study.game.variance_for(without[i], players[i], alone);
      auto& curve = curves[i].epsilon;
      if (variance <= 0)
        curve.emplace_back(std::nullopt);
      else
        curve.emplace_back(
            std::isfinite(variance)
                ? study.law.epsilon(variance / study.per_strength(i), delta_of(study))
                : 0);
    }
  }
  return curves;
}

std::vector<WhatIf::Scenario> scenarios_of(const Study& study) {
  constexpr double kFirst = 1e5;
  const auto game = [&](GameWeights weights) {
    return Game(study.game.response(), study.game.spread(), study.game.alone(), weights,
                study.job.variance());
  };
  const Game by_rows = game(GameWeights::kRows), optimal = game(GameWeights::kOptimal);
  const std::array cases = {
      WhatIf::Scenario{"(i) small and cautious", 10, 1e3, .1},
      WhatIf::Scenario{"(ii) small and generous", 10, 1e3, 10},
      WhatIf::Scenario{"(iii) large and cautious", 1, 1e5, .1},
      WhatIf::Scenario{"(iv) large and generous", 1, 1e5, 10},
  };
  std::vector<WhatIf::Scenario> found;
  for (WhatIf::Scenario scenario : cases) {
    const Player first = player_of(study, kFirst, scenario.epsilon);
    const Player other = player_of(study, scenario.others_rows, scenario.others_epsilon);
    const std::array all = {first, other, other};
    scenario.by_rows = by_rows.reached(by_rows.of(all));
    scenario.first_alone = by_rows.reached(by_rows.of(first));
    scenario.optimal = optimal.reached(optimal.of(all));
    found.push_back(std::move(scenario));
  }
  return found;
}

JointForecast::Comparison comparison_of(const Study& study, bool runs, int threads) {
  const Response& response = study.game.response();
  const double here = study.job.variance();
  std::vector<std::pair<double, double>> points;
  for (const double times : {1e-2, 1e-1, 1.0, 1e1, 1e2})
    points.emplace_back(times, response.at(times * here));
  const auto smooth = fit_bound(points, BoundForm::kSmooth);
  const auto general = fit_bound(points, BoundForm::kGeneral);
  const auto both = fit_bound(points, BoundForm::kAsync);
  JointForecast::Comparison found{
      .smooth = smooth.at(1), .general = general.at(1), .both = both.at(1)};
  for (const double epsilon : {.03, .1, .3, 1.0, 3.0, 10.0, 30.0}) {
    const double strength = study.law.strength(epsilon, delta_of(study));
    const Job job = job_at(study, strength);
    const double variance = job.variance(), times = variance / here;
    JointForecast::Comparison::Point point{.epsilon = epsilon,
                                           .forecast = response.at(variance),
                                           .smooth = smooth.at(times),
                                           .general = general.at(times),
                                           .both = both.at(times)};
    if (runs) point.runs = by_runs(study, job, threads);
    found.points.push_back(point);
  }
  return found;
}

}  // namespace parley::forecast
