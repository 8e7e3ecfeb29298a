// From the public rows: the metric that users of the model care about, and squared distances
// between models. Both need the score of every row by the optimum of all rows, and by the optimum
// without that row (leave-one-out).
//
// With L* the loss of the best model and dS = tr(H^-1 S), the pilot's in-sample loss has the
// expectation L* - dS/(2 n0) and its leave-one-out loss L* + dS/(2 n0) (Akaike 1974, Takeuchi 1976,
// Stone 1977). Their midpoint is therefore unbiased to first order, and so it is for RMSE and AUC.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/result.h"
#include "parley/forecast/pilot/statistics.h"
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
  /// by tau/2, though by no more than 0.7 L. For AUC both are those of all but the intercept, see
  /// ignores_intercept(). Always within the metric's range.
  double at(double excess, double tau = 0) const;
  /// A shift of all scores moves no AUC.
  bool ignores_intercept() const { return measure == Measure::kAuc; }
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

/// Rows of the smaller class per column; all rows where the target is a value. Below 2, every
/// verdict is "not sure".
double rows_per_column(const PilotStatistics& pilot);
inline constexpr double kRowsPerColumn = 2;

/// A squared distance between models, in two parts. b'Hb is the mean of (b.z)^2 over records,
/// weighted by the curvature of their loss. The part of the intercept is the square of the weighted
/// mean of b.z, which shifts all scores alike; that of the slopes is the variance. With g = H b the
/// first is g_bias^2 / H_bias,bias.
struct Parts {
  double slopes = 0, intercept = 0;
  double all() const { return slopes + intercept; }
};

/// Squared distances between models in the metric of the pilot's Hessian: a model at squared
/// distance d from the best one has an excess loss of d/2.
struct PilotDistances {
  size_t rows = 0, columns = 0;  // n0, p
  /// dS = tr(H^-1 S): the optimum of n rows is dS/n from the best model. S is the mean of the
  /// covariance of gradients in sample, which is too small, and at scores left out.
  Parts sampling{};
  double constant = 0;  // d0 = 2 (loss of the best constant - midpoint of the two losses)
  double clip = 0;      // cw: the 95 % quantile of the length of a record's gradient
};

PilotDistances pilot_distances(const PilotStatistics& pilot, const PilotScores& scores);

/// Cc: the mean squared length of records' gradients at scores left out, each cut to `clip`.
Parts clipped_square(const PilotStatistics& pilot, const PilotScores& scores, double clip);

/// The squared distance between the best model of the population of `rows` and the pilot's optimum:
/// the mean of (W' g_i).(W' g_j) over pairs of different records, which needs no S and is unbiased.
/// It is the mean over all halvings A, B of the rows of (W' g_A).(W' g_B). May be below 0. Needs
/// two rows or more.
Parts distance_from_pilot(const PilotStatistics& pilot, const data::Rows& rows);

}  // namespace parley::forecast
