// The parts of a forecast, one for each question that it answers, and the Study, which holds the
// intermediate results that all of them share.
#pragma once

#include <optional>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/forecast/decide/game.h"
#include "parley/forecast/forecast.h"
#include "parley/forecast/pilot/metric.h"
#include "parley/forecast/pilot/statistics.h"
#include "parley/forecast/predict/predict.h"
#include "parley/plan/noise.h"

namespace parley::forecast {

struct Study {
  const charter::Charter& charter;
  PilotStatistics statistics;
  Job job;
  Prediction prediction;
  double error = 0;      // of the expected excess, relative to it
  bool redrawn = false;  // The public rows were drawn from moments that owners released.
  plan::NoiseLaw law;
  Game game;           // in units of f*
  PilotScores scores;  // of the pilot's rows
  PilotMetric metric;  // the user's
  PilotDistances distances;
  std::vector<Player> players{};
  std::vector<double> strengths{};  // of their noise
  double best = 0;                  // f*
  double rows = 0;                  // n
  double differ = 0;                // how far owners differ: tau^2 / f*
  Tau tau{};                        // the same with its uncertainty
  double worth = 0;                 // the least gain that counts, as default_worth()

  /// The metric expected on new rows of a model with relative fitness `psi`. f* is the in-sample
  /// loss of the owners' rows, whose optimism is B/n.
  double metric_at(double psi) const { return metric.at(psi * best + statistics.sampling / rows); }

  /// Variance of an owner's noise per unit of strength, if it had so many times its rows.
  double per_strength(size_t i, double times = 1) const {
    return players[i].variance / strengths[i] / (charter.protocol.by_record() ? times * times : 1);
  }
};

// --- The joint model (joint.cc)

/// The metric of a charter: AUC for two classes, RMSE for a value.
Measure measure_of(const charter::Charter& charter, const PilotStatistics& statistics);

/// All but the comparison.
JointForecast joint_forecast(const Study& study);

/// Rounds; bytes that one owner sends and receives; seconds of a round, without the network's own
/// delay: the slowest owner's pass over its rows. From public numbers.
CostForecast cost_of(const charter::Charter& charter);

// --- Owners (owners/owners.cc): figures and verdicts, groups, epsilons

/// Where owners hold rows: every owner's figures on its own population, in the user's metric, with
/// verdicts; in the papers' measure break-even, Shapley values, groups and epsilons. Needs the
/// grid.
void add_row_owners(Forecast& result, const Study& study, const ForecastOptions& options);

/// Where owners hold columns of the same records: alone an owner has its own columns only (and the
/// labels). All records' noise is that of the strictest budget, and `study` has one player with all
/// rows.
Result<void> add_column_owners(Forecast& result, const Study& study,
                               const ForecastOptions& options);

// --- Other budgets, rows and prices (decide/what_if.cc)

/// The smallest epsilon of everyone at which all together reach `psi`, the finite rows counted in.
std::optional<double> common_epsilon(const Study& study, double psi);
/// How many rows all would need for relative fitness `psi`, shares and budgets as they are.
std::optional<double> rows_for(const Study& study, double psi);

WhatIf::Grid grid_of(const Study& study);
/// What each of the first owners would have to give, by what the others give.
std::vector<WhatIf::BreakEven> break_even_of(const Study& study, const WhatIf::Grid& grid);
std::vector<WhatIf::Scenario> scenarios_of(const Study& study);
Result<WhatIf::Market> market_of(const Study& study, const MarketTerms& terms);
/// With `runs`, also by runs on the public rows, which take their time.
JointForecast::Comparison comparison_of(const Study& study, bool runs, int threads);

// --- Warnings (warnings.cc)

/// `disagreement` of the two halves of the public rows, see uncertainty.h.
void add_warnings(Forecast& forecast, const charter::Charter& charter, const Prediction& prediction,
                  double disagreement);
/// `error` is the relative error of the expected figure that public and owners' rows leave as
/// samples.
void warn_of_samples(Forecast& forecast, double error);
/// Names columns that are constant in all but a few public rows.
void warn_of_thin_columns(Forecast& forecast, const data::Schema& schema, const data::Rows& pilot);
/// Of owners that are declared to differ by this much, and take local steps.
void warn_of_differences(Forecast& forecast, double differ);

}  // namespace parley::forecast
