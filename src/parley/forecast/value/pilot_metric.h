// The metric that people use, estimated honestly from public rows (spec, value 3).
//
// The loss of the pilot's own rows at its optimum expects L* - dS/(2 n0), that of rows left out
// L* + dS/(2 n0), L* being that of the best model (Akaike; Takeuchi; Stone 1977). So the middle of
// both has no bias to first order, and the same holds for RMSE and AUC.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/result.h"
#include "parley/forecast/pilot_statistics.h"
#include "parley/learn/metrics.h"

namespace parley::forecast {

/// The scores of the pilot's rows by its own optimum, and by the optimum without the row.
struct PilotScores {
  std::vector<double> in_sample{}, left_out{};
};

/// Without refitting: u_i + h_i f'_i / (1 - h_i f''_i), h_i = z_i' H^-1 z_i / n0, one Newton step;
/// the denominator is at least 0.05. The hinge loss has no curvature: ten folds are refitted.
PilotScores pilot_scores(const PilotStatistics& pilot, int threads = 1);

using learn::Measure;

/// A metric in its own units, of the best model of the pilot's population.
struct PilotMetric {
  Measure measure = Measure::kRmse;
  double scale = 1;                    // target units of one unit of a label; RMSE only
  double in_sample = 0, left_out = 0;  // both with the scale
  double middle = 0;                   // their mean
  double error = 0;                    // its standard error
  /// The metric moves by so much with one unit of excess loss: AUC falls by kappa, the mean square
  /// and the log loss rise by 1, or by another factor where they are not the loss that is trained.
  double slope = 1;
  double loss = 0;  // L: the middle of what excess is added to: mean square, log loss, or own loss

  /// Of a model with this excess loss on a population whose best model is better than the pilot's
  /// by tau/2, though by no more than 0.7 L. Of that, AUC follows only what is not in the
  /// intercept, a share that nobody knows: half is taken. Always within the metric's range.
  double at(double excess, double tau = 0) const;
  /// What is left of L on such a population.
  double best_loss(double tau) const;
  /// Moved into the range: at least 0, and for AUC at most 1.
  double within(double value) const;
};

/// The measure on the rows of the pilot. The standard error is DeLong's for AUC (1988) and that of
/// the mean, by the delta method, for the others, at the scores left out; to its square comes
/// ((in - out)/2)^2 / 3 for the choice of the middle. `sites` are the sites of rows, if they are
/// named: rows of a site are alike, so errors are then summed by site (Obuchowski 1997), and the
/// larger of both is taken. An error where rows do not define the measure.
Result<PilotMetric> pilot_metric(const PilotStatistics& pilot, const PilotScores& scores,
                                 Measure measure, double scale = 1,
                                 std::span<const uint32_t> sites = {});

/// Rows of the smaller class for every column; all rows where the target is a value. Below 2, no
/// verdict is sure (spec, value 2.3).
double rows_per_column(const PilotStatistics& pilot);
inline constexpr double kRowsPerColumn = 2;

}  // namespace parley::forecast
