// From a charter to a job in numbers, and from a job to what its model is expected to reach.
//
//   job_of(charter) -> Job -> predict -> Prediction -> response_of -> Response
//
// Exact moments are used where the problem is quadratic as far as the models go; Gaussian
// propagation for clips, boxes and other losses; runs on the public rows where the box is active so
// often, or the model so far from the optimum, that the normal approximation fails. See "The
// predictors" in docs/explanation/forecasting.md.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/forecast/pilot/statistics.h"
#include "parley/forecast/propagate/expected_loss.h"
#include "parley/forecast/propagate/moments.h"
#include "parley/learn/federated/local_update.h"
#include "parley/learn/schedule/schedule.h"
#include "parley/learn/vertical/joint_gradient.h"

namespace parley::forecast {

// --- Jobs

/// A synchronous job: the learner's schedule, the clip of a record's gradient, the noise.
struct SyncJob {
  learn::Schedule schedule{};
  double start_spread = 0;  // covariance of a random start, in units of PilotStatistics::spread
  learn::ClipIn norm = learn::ClipIn::kL1;
  double limit = 0;
  double variance = 0;                    // of one coordinate of the weighted mean gradient
  std::vector<double> variance_factor{};  // times the variance, round by round; empty: 1 in all
};

struct AsyncJob {
  learn::AsyncRule rule{};
  learn::ClipIn norm = learn::ClipIn::kL1;
  double limit = 0;
  std::vector<double> variances{};  // of each owner's mean gradient
  std::vector<double> rows{};       // of each owner
  double differ = 0;                // tau^2: what the best model of one owner's rows misses on all
  /// The Hessian of each owner's mean loss, without l2, where it is known; else all are the
  /// pilot's.
  std::vector<std::vector<double>> curvatures{};
};

/// Rule "statistics": one answer of all second moments, from rows shrunk to a norm.
struct StatisticsJob {
  learn::ClipIn norm = learn::ClipIn::kL1;
  double row_norm = 0, label = 0;  // bounds of a row and of a label
  double label_weight = 1;         // of labels beside features
  double variance = 0;             // of one number on the diagonal of the owners' weighted mean
};

/// K local steps of every owner between two aggregations; only their sum carries noise.
struct FederatedJob {
  learn::LocalPlan plan{};  // the same for all owners, but for rows and weight
  int64_t rounds = 0;
  std::vector<double> start{};
  double start_spread = 0;  // as of SyncJob
  learn::ClipIn norm = learn::ClipIn::kNone;
  double limit = 0;
  double variance = 0;            // of one coordinate of the sum over all owners
  std::vector<double> weights{};  // of each owner
  std::vector<double> rows{};
  double differ = 0;  // tau^2, in units of the loss
};

/// Secret-shared gradients of the squared loss: every owner moves its part of the model by its part
/// of a noisy gradient, inside a ball.
struct VerticalJob {
  learn::JointSteps steps{};                             // of half the squares
  std::vector<size_t> owners{};                          // of every feature
  std::vector<double> balls{};                           // of every owner's part of the model
  double box = std::numeric_limits<double>::infinity();  // without a dealer: of coefficients
  double variance = 0;  // of one coordinate of the mean gradient of f
};

struct Job {
  std::variant<SyncJob, AsyncJob, StatisticsJob, FederatedJob, VerticalJob> kind{};
  std::vector<double> weights{};    // v_i
  std::vector<double> variances{};  // of each owner's mean gradient; in a secure sum what it needs
  std::vector<double> strengths{};  // NoiseLaw's, of each owner
  bool strictest = false;           // A secure sum: the noise is what the strictest owner needs.

  /// Of the weighted mean gradient; of a secure sum in which all owners take part.
  double variance() const;
};

/// All owners' rows together.
double owners_rows(const charter::Charter& charter);

/// Of a complete charter and its pilot's statistics. Protocols and rules that cannot be forecast
/// yet are refused, naming the key. `pilot` are the public rows where they are not those of the
/// statistics, which training may shorten.
Result<Job> job_of(const charter::Charter& charter, const PilotStatistics& statistics,
                   const data::Rows* pilot = nullptr);

/// Adds what is known about owners: how far they differ (federated and async; tau^2, in units of
/// the loss), and (async) rows drawn from each owner's own moments, which give its Hessian; none:
/// the pilot's.
void set_differences(Job& job, const PilotStatistics& statistics, double differ,
                     const std::vector<std::shared_ptr<const data::Rows>>& owners);

// --- Predictions

struct Prediction {
  std::string predictor{}, why{};
  double excess = 0;                  // E f - f*
  double optimisation = 0;            // part of it: without any noise
  double drift = 0;                   // part of that: client drift of local steps
  OutputDistribution distribution{};  // of the output, as far as it is normal
  double smallest_gain = 1;           // of clamping to the box; 1: it is never reached
  double clipped = 0;                 // share of records clipped at the end
  double stability = 0;               // largest step times curvature; steps diverge from 2 on
};

/// Below this gain of clamping to the box the normal approximation fails.
inline constexpr double kBoxDecides = .9;
/// Above this relative fitness Gaussian propagation was found to be too low.
double far_from_best(const learn::Losses& loss);

struct Effort {
  int threads = 1;
  bool runs = true;     // where the normal approximation fails; else moments are taken nevertheless
  bool clipped = true;  // whether the share of clipped records is wanted
};

/// Of any job, by the predictor of its kind.
Prediction predict(const PilotStatistics& statistics, const Job& job, const Effort& effort);

Prediction predict(const PilotStatistics& statistics, const SyncJob& job,
                   const Effort& effort = {});

/// Exact for the squared loss, but for the box, and the clip if few records are clipped; other
/// losses by runs, of at most kAsyncOwnersMax owners.
Prediction predict(const PilotStatistics& statistics, const AsyncJob& job,
                   const Effort& effort = {});
/// E f - f* of any loss by its quadratic approximation at the optimum, without a clip: quick, to
/// compare jobs.
double async_excess_near(const PilotStatistics& statistics, const AsyncJob& job);

/// By drawing the noise; for the squared loss.
Prediction predict(const PilotStatistics& statistics, const StatisticsJob& job);

/// Owners that are alike take the same steps, so that the job is one schedule of all local steps
/// with noise in every K-th. Averaging local models of owners that differ is not a step on pooled
/// data (client drift); what that adds is found by running the steps, without noise, of synthetic
/// owners made from the public rows.
Prediction predict(const PilotStatistics& statistics, const FederatedJob& job,
                   const Effort& effort = {});
/// The local steps of owners that are alike as one schedule.
SyncJob as_one_schedule(const FederatedJob& job);
/// What client drift adds to f - f*, for owners with as many rows as each has that differ as
/// declared.
double drift_of(const PilotStatistics& statistics, const FederatedJob& job);
/// More local steps than this, over all rounds, are not forecast.
inline constexpr int64_t kLocalStepsMax = 20000;

/// Where no ball is active the steps are one schedule, and moments are exact; else the steps are
/// run on the public rows' second moments.
Prediction predict(const PilotStatistics& statistics, const VerticalJob& job);
/// The steps as one schedule, without balls.
SyncJob without_balls(const VerticalJob& job);
/// The models of `count` runs with noise of `variance`, and the share of steps in which a ball was
/// active.
struct VerticalRuns {
  std::vector<std::vector<double>> models{};
  double met = 0;
};
VerticalRuns vertical_runs(const PilotStatistics& statistics, const VerticalJob& job,
                           double variance, size_t count);
/// Mean of f - f* over models; for the squared loss.
double mean_excess(const PilotStatistics& statistics,
                   const std::vector<std::vector<double>>& models);

// --- Runs of the algorithm itself on the public rows
// With the noise that the owners' answers would have, owners taken to be alike. For what moments
// cannot predict: an active box, models far from the optimum, asynchronous jobs of losses that are
// not quadratic.

inline constexpr size_t kRunRows = 2000;  // about so many public rows are used
std::shared_ptr<const data::Rows> rows_to_run(const PilotStatistics& statistics, size_t about);
inline constexpr size_t kAsyncOwnersMax = 20;

/// E f - f*, and the models.
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
/// 150 runs of the rounds.
PilotRuns run_on_pilot(const PilotStatistics& statistics, const FederatedJob& job);

// --- Responses: predictions for other variances of the noise

/// Propagations of a thousand rows at several variances; they do not depend on each other.
class ResponseRuns {
 public:
  static constexpr size_t kCount = 5;

  ResponseRuns(const PilotStatistics& statistics, const SyncJob& job);
  ~ResponseRuns();

  void run(size_t k);  // each once, on any thread
  /// After all of them.
  Response response(const Prediction& here) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The runs that the response of a job needs; null where it follows without.
std::unique_ptr<ResponseRuns> response_runs(const PilotStatistics& statistics, const Job& job,
                                            const Prediction& here);
/// Of any job, around the prediction `here`; after all runs, if there are any.
Response response_of(const PilotStatistics& statistics, const Job& job, const Prediction& here,
                     const ResponseRuns* runs, int threads);

Response response_of(const SyncJob& job, const Prediction& exact);
Response response_of(const PilotStatistics& statistics, const AsyncJob& job,
                     const Prediction& here);
Response response_of(const PilotStatistics& statistics, const StatisticsJob& job,
                     const Prediction& here);
Response response_of(const PilotStatistics& statistics, const FederatedJob& job,
                     const Prediction& here, int threads = 1);
Response response_of(const PilotStatistics& statistics, const VerticalJob& job,
                     const Prediction& here);

}  // namespace parley::forecast
