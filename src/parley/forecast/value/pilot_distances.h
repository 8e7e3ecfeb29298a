// What the pilot says about distances between models, all in the metric of its Hessian (spec, value
// 0, 2.1 and 2.2). A model at squared distance d from the best one costs d/2 more loss.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parley/base/result.h"
#include "parley/forecast/pilot_statistics.h"
#include "parley/forecast/value/pilot_metric.h"

namespace parley::forecast {

struct PilotDistances {
  size_t rows = 0, columns = 0;  // n0, p
  /// dS = tr(H^-1 S): the optimum of n rows is dS/n from the best model. S is the mean of the
  /// covariance of gradients in sample, which is too small, and at scores left out.
  double sampling = 0;
  double constant = 0;  // d0 = 2 (loss of the best constant - middle loss of section 3)
  double clip = 0;      // cw: the 95 % quantile of the length of a record's gradient
  double square = 0;    // Cc: mean of min(length, cw)^2 at scores left out
};

PilotDistances pilot_distances(const PilotStatistics& pilot, const PilotScores& scores);

/// Cc at another clip.
double clipped_square(const PilotStatistics& pilot, const PilotScores& scores, double clip);

/// The squared distance between the best model of the population of `rows` and the pilot's optimum:
/// the mean of (W' g_i).(W' g_j) over pairs of different records, which needs no S and is unbiased.
/// It is the mean over all halvings A, B of the rows of (W' g_A).(W' g_B) (spec, value 2.2.4). May
/// be below 0. Two rows or more.
double distance_from_pilot(const PilotStatistics& pilot, const data::Rows& rows);

}  // namespace parley::forecast
