// The expected loss of a design on new rows, from the public rows alone (spec, value 4): quick, to
// find the few that are worth a forecast.
//
//   L_mid of the clipped optimum + dS/(2N) + noise + unfinished
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/forecast/choose/open/features.h"
#include "parley/forecast/choose/open/ways.h"
#include "parley/forecast/pilot_statistics.h"
#include "parley/forecast/value/pilot_metric.h"

namespace parley::forecast {

/// Features and l2: what the public rows say about the best model of that kind.
struct Design {
  const FeatureSet* features = nullptr;
  double l2 = 0;
  PilotStatistics statistics{};
  PilotMetric metric{};          // the user's; its `loss` is L_mid
  std::vector<double> losses{};  // L_mid's part of every row
  double left_out = 0;           // the mean loss of rows left out

  /// Of a model with this loss on new rows.
  double metric_at(double loss) const { return metric.at(loss - metric.loss); }
};
using SharedDesign = std::shared_ptr<const Design>;

/// The model's other keys are the charter's. An error where rows give no metric.
Result<SharedDesign> design_of(const charter::Charter& charter, const FeatureSet& features,
                               double l2, int threads);

/// With a clip of so large a share of gradients, in the norm of the way's mechanism.
struct ClippedDesign {
  SharedDesign design{};
  double clip = 0;
  double bias = 0;        // what the clip moves the loss by
  double noise_gain = 0;  // (1/2) tr(H_f H_c^-2)

  /// In units of the loss, for Newton steps 1/k of so many rounds.
  double criterion(const Way& way, int64_t rounds) const;
  /// The least over the rounds that are worth it.
  double criterion(const Way& way) const;
};
/// None where the public rows have no curvature left.
std::optional<ClippedDesign> clipped_design(const SharedDesign& design, const Way& way,
                                            double share);

/// Standard error of the difference of two designs' losses on the public rows, row by row.
double paired_error(const Design& one, const Design& other);

/// p > n0/20, or fewer than 2 p public rows of the smaller class: the choice may be far from the
/// best there.
bool too_few_rows(const Design& design);

}  // namespace parley::forecast
