// From a charter to what the predictors need.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/forecast/pilot_statistics.h"
#include "parley/forecast/predict/predict.h"

namespace parley::forecast {

struct Job {
  std::variant<SyncJob, AsyncJob, StatisticsJob, FederatedJob, VerticalJob> kind{};
  std::vector<double> weights{};    // v_i
  std::vector<double> variances{};  // of each owner's mean gradient; in a secure sum what it needs
  std::vector<double> strengths{};  // NoiseLaw's, of each owner
  bool strictest = false;           // There is as much noise as one of them needs, not a sum.

  /// Of the weighted mean gradient; of a secure sum, all owners being there.
  double variance() const;
};

double owners_rows(const charter::Charter& charter);

/// Of a complete charter and its pilot's statistics. Protocols and rules that cannot be forecast
/// yet are refused, naming the key. `pilot` are the public rows where they are not those of the
/// statistics, which training may shorten.
Result<Job> job_of(const charter::Charter& charter, const PilotStatistics& statistics,
                   const data::Rows* pilot = nullptr);

/// What is declared about owners: how far they differ (federated, async; tau^2, in units of
/// f), and (async) rows as each of them has, which tell their curvatures; none: all alike.
void tell_apart(Job& job, const PilotStatistics& statistics, double differ,
                const std::vector<std::shared_ptr<const data::Rows>>& owners);

Prediction predict(const PilotStatistics& statistics, const Job& job, const Effort& effort);

/// Runs that the response needs, of the same job and statistics; none where it follows without.
std::unique_ptr<ResponseRuns> response_runs(const PilotStatistics& statistics, const Job& job,
                                            const Prediction& here);
/// After all runs, if there are any.
Response response_of(const PilotStatistics& statistics, const Job& job, const Prediction& here,
                     const ResponseRuns* runs, int threads);

}  // namespace parley::forecast
