// The robust predictor: the algorithm itself, run on the public rows with the noise that the
// owners' answers would have (spec, horizontal 4.4, last paragraph). For what moments cannot tell:
// where the box decides, far from the best, and asynchronous jobs of losses that are not quadratic.
#pragma once

#include "parley/forecast/pilot_statistics.h"
#include "parley/forecast/predict/predict.h"

namespace parley::forecast {

/// Owners are taken to be alike, each with all public rows, of which about so many are looked at.
inline constexpr size_t kRunRows = 2000;
std::shared_ptr<const data::Rows> rows_to_run(const PilotStatistics& statistics, size_t about);
inline constexpr size_t kAsyncOwnersMax = 20;

/// E f - f*, and where the models land.
struct PilotRuns {
  double excess = 0;
  double standard_error = 0;  // of it
  OutputDistribution distribution{};
};

PilotRuns run_on_pilot(const PilotStatistics& statistics, const SyncJob& job, int threads,
                       size_t rows = kRunRows);
/// At most kAsyncOwnersMax owners. With `quiet`, without any noise.
PilotRuns run_on_pilot(const PilotStatistics& statistics, const AsyncJob& job, bool quiet,
                       int threads);

}  // namespace parley::forecast
