// Secret-shared gradients (V-B): every owner moves its part of the model by its part of a noisy
// gradient of squares, inside a ball. Where no ball is met that is one schedule, and moments are
// exact; else the steps themselves are run, on the public rows' second moments.
#pragma once

#include "parley/forecast/pilot_statistics.h"
#include "parley/forecast/predict/predict.h"

namespace parley::forecast {

Prediction predict(const PilotStatistics& statistics, const VerticalJob& job);
Response response_of(const PilotStatistics& statistics, const VerticalJob& job,
                     const Prediction& here);

/// The steps as one schedule, as if there were no balls.
SyncJob without_balls(const VerticalJob& job);

/// The models of so many runs with noise of `variance`, and the share of steps that met a ball.
struct SharingRuns {
  std::vector<std::vector<double>> models{};
  double met = 0;
};
double mean_excess(const PilotStatistics& statistics, const SharingRuns& runs);
SharingRuns sharing_runs(const PilotStatistics& statistics, const VerticalJob& job, double variance,
                         size_t count);

}  // namespace parley::forecast
