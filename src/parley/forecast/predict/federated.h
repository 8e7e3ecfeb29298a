// Federated jobs (spec, vertical 3): K local steps of every owner between two aggregations, whose
// sum alone carries noise.
//
// Owners that are alike take the same steps, so that a job is one table of all local steps with
// noise in every K-th: moments and propagation then tell as for any schedule. Owners that are not
// alike end their K steps apart, and the mean of such ends is not the end of the mean: what that
// adds is found by the steps themselves, without noise, of owners made from the public rows.
#pragma once

#include <vector>

#include "parley/forecast/pilot_statistics.h"
#include "parley/forecast/predict/pilot_runs.h"
#include "parley/forecast/predict/predict.h"

namespace parley::forecast {

/// The steps of owners that are alike, one after the other.
SyncJob as_one_table(const FederatedJob& job);

Prediction predict(const PilotStatistics& statistics, const FederatedJob& job,
                   const Effort& effort = {});
Response response_of(const PilotStatistics& statistics, const FederatedJob& job,
                     const Prediction& here, int threads = 1);

/// E f - f* and the models of 150 runs of the rounds themselves, owners alike.
PilotRuns run_on_pilot(const PilotStatistics& statistics, const FederatedJob& job);

/// What owners that differ add to f - f* by their local steps: with tilted labels as far as they
/// differ by declaration, and with as many rows as each has.
double drift_of(const PilotStatistics& statistics, const FederatedJob& job);

/// More local steps than this, over all rounds, are not looked at one by one.
inline constexpr int64_t kLocalStepsMax = 20000;

}  // namespace parley::forecast
