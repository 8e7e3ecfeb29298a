// What the parts of a forecast are made from, and parts that have files of their own.
#pragma once

#include <optional>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/forecast/decide/game.h"
#include "parley/forecast/forecast.h"
#include "parley/forecast/jobs.h"
#include "parley/forecast/pilot_statistics.h"
#include "parley/forecast/value/pilot_metric.h"
#include "parley/plan/noise.h"

namespace parley::forecast {

/// Everything that the parts of a forecast are made from.
struct Study {
  const charter::Charter& charter;
  const PilotStatistics& statistics;
  const Job& job;
  const Prediction& prediction;
  const plan::NoiseLaw& law;
  const Game& game;           // in units of f*
  const PilotScores& scores;  // of the pilot's rows
  const PilotMetric& metric;  // the user's
  std::vector<Player> players{};
  std::vector<double> strengths{};  // of their noise
  double best = 0;                  // f*
  double rows = 0;                  // n
  double differ = 0;                // tau^2 / f*
  Tau tau{};                        // the same, and how well it is known
  double worth = 0;                 // the least gain that counts, as default_worth()

  /// The metric that is expected on new rows of a model so far above f*, in its units: f* is that
  /// of the owners' own rows, which flatter their optimum by B/n.
  double metric_at(double psi) const { return metric.at(psi * best + statistics.sampling / rows); }

  /// Variance of an owner's noise for a strength, per strength, had it so many times its rows.
  double per_strength(size_t i, double times = 1) const {
    return players[i].variance / strengths[i] / (charter.protocol.by_record() ? times * times : 1);
  }
};

/// The smallest epsilon of everyone at which all together reach `psi`, the finite rows counted in.
std::optional<double> common_epsilon(const Study& study, double psi);
/// How many rows all would need for relative fitness `psi`, shares and budgets as they are.
std::optional<double> rows_for(const Study& study, double psi);

void add_grid(Forecast& result, const Study& study);
/// What each of the first owners would have to give, by what the others give. After add_grid.
void add_break_even(Forecast& result, const Study& study);
void add_scenarios(Forecast& result, const Study& study);
/// With `runs`, also by runs on the public rows, which take their time.
void add_comparison(Forecast& result, const Study& study, bool runs, int threads);
Result<void> add_market(Forecast& result, const Study& study, const MarketTerms& terms);

}  // namespace parley::forecast
