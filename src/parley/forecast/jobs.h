// From a charter to what the predictors need.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/forecast/facts.h"
#include "parley/forecast/predict/predict.h"

namespace parley::forecast {

struct Job {
  std::variant<SyncJob, AsyncJob, StatisticsJob> kind{};
  std::vector<double> weights{};    // v_i
  std::vector<double> variances{};  // of each owner's mean gradient

  /// Of the weighted mean gradient.
  double variance() const;
};

double owners_rows(const charter::Charter& charter);

/// Of a complete charter and the facts of its pilot. Protocols and rules that cannot be forecast
/// yet are refused, naming the key.
Result<Job> job_of(const charter::Charter& charter, const Facts& facts);

/// What is declared about owners of an asynchronous job: how far they differ (tau^2, in units of
/// f), and rows as each of them has, from which their curvatures are known; none: all alike.
void tell_apart(Job& job, const Facts& facts, double differ,
                const std::vector<std::shared_ptr<const learn::Rows>>& owners);

Prediction predict(const Facts& facts, const Job& job, const Effort& effort);

/// Runs that the response needs, of the same job and facts; none where it follows without.
std::unique_ptr<ResponseRuns> response_runs(const Facts& facts, const Job& job,
                                            const Prediction& here);
/// After all runs, if there are any.
Response response_of(const Facts& facts, const Job& job, const Prediction& here,
                     const ResponseRuns* runs);

}  // namespace parley::forecast
