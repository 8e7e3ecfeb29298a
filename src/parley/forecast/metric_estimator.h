// The forecast in the metric that people use: the error of predictions in units of the target, or
// for two classes the area under the curve.
#pragma once

#include <string>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/forecast/expect/output_distribution.h"
#include "parley/forecast/pilot_statistics.h"

namespace parley::forecast {

class MetricEstimator {
 public:
  /// `parts` of the public rows tell how much a model flatters the rows it was made from.
  MetricEstimator(const charter::Charter& charter, const PilotStatistics& statistics,
                  const std::vector<PilotStatistics>& parts, int threads);

  const std::string& name() const { return name_; }  // rmse | auc
  bool smaller_is_better() const { return name_ == "rmse"; }
  /// Expected, on the owners' rows.
  double at(const OutputDistribution& distribution) const;
  /// Of the optimum of `share` = 1/n rows of one's own: its covariance is share times the spread.
  double of_rows(double share) const { return best_ + slope_ * share; }
  /// The standard error of its level that the public rows leave.
  double error() const { return error_; }

 private:
  double squared(const OutputDistribution& distribution) const;

  const PilotStatistics& statistics_;
  std::string name_;
  double scale_, correction_, flattery_;
  int threads_;
  double best_ = 0, slope_ = 0, error_ = 0;
};

}  // namespace parley::forecast
