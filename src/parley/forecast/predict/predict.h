// Which predictor, and what it says. Exact moments where the problem is quadratic as far as the
// models go; Gaussian propagation for clips, boxes and other losses; runs on the public rows where
// the box decides and normal moments no longer tell.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "parley/forecast/expect/output_distribution.h"
#include "parley/forecast/pilot_statistics.h"
#include "parley/forecast/propagate/async_moments.h"
#include "parley/forecast/propagate/response.h"
#include "parley/learn/federated/local_update.h"
#include "parley/learn/schedule/schedule.h"
#include "parley/learn/vertical/joint_gradient.h"

namespace parley::forecast {

/// A synchronous job: how the learner steps, how records are clipped, how loud the answers are.
struct SyncJob {
  learn::Schedule schedule{};
  double start_spread =
      0;  // of a random start: its covariance is this times PilotStatistics::spread
  learn::ClipIn norm = learn::ClipIn::kL1;
  double limit = 0;
  double variance = 0;                    // of one coordinate of the weighted mean gradient
  std::vector<double> variance_factor{};  // times the variance, round by round; empty: 1 in all
};

/// Secret-shared gradients of squares; see sharing.h.
struct VerticalJob {
  learn::JointSteps steps{};     // of half the squares
  std::vector<size_t> owners{};  // of every feature
  std::vector<double> balls{};   // of every owner's part of the model
  double variance = 0;           // of one coordinate of the mean gradient of f
};

/// K local steps of every owner between aggregations; see federated.h.
struct FederatedJob {
  learn::LocalPlan plan{};  // but for rows and weight, the same for all
  int64_t rounds = 0;
  std::vector<double> start{};
  double start_spread = 0;  // as of SyncJob
  learn::ClipIn norm = learn::ClipIn::kNone;
  double limit = 0;
  double variance = 0;            // of one coordinate of the owners' sum, all of them there
  std::vector<double> weights{};  // of each owner
  std::vector<double> rows{};
  double differ = 0;  // tau^2, of f itself
};

struct AsyncJob {
  learn::AsyncRule rule{};
  learn::ClipIn norm = learn::ClipIn::kL1;
  double limit = 0;
  std::vector<double> variances{};  // of each owner's mean gradient
  std::vector<double> rows{};       // of each owner
  double differ = 0;                // tau^2: what the best model of one owner's rows misses on all
  /// The Hessian of each owner's mean loss, l2 apart, where it is known; else all are the pilot's.
  std::vector<std::vector<double>> curvatures{};
};

/// One answer of all second moments, from rows shrunk to a norm.
struct StatisticsJob {
  learn::ClipIn norm = learn::ClipIn::kL1;
  double row_norm = 0, label = 0;  // most of a row and of a label
  double label_weight = 1;         // of labels beside features
  double variance = 0;             // of one number on the diagonal of the owners' weighted mean
};

struct Prediction {
  std::string predictor{}, why{};
  double excess = 0;                  // E f - f*
  double optimisation = 0;            // of it, without any noise
  double drift = 0;                   // of that: owners' local steps lead apart
  OutputDistribution distribution{};  // the output, as far as it is normal
  double smallest_gain = 1;           // of the box; 1: it is never reached
  double clipped = 0;                 // share of records clipped at the end
  double stability = 0;               // step times curvature, largest; diverges from 2 on
};

/// Below this gain of the box it decides (spec, horizontal 7).
inline constexpr double kBoxDecides = .9;
/// Above this relative fitness propagated moments were found to be too low.
double far_from_best(const learn::Losses& loss);

struct Effort {
  int threads = 1;
  bool runs = true;     // where moments do not tell; else they are taken for what they are
  bool clipped = true;  // whether the share of clipped records is wanted
};

Prediction predict(const PilotStatistics& statistics, const SyncJob& job,
                   const Effort& effort = {});

/// Exact for the squared loss, where the box and the clip are not looked at except to say how far
/// they matter; other losses by runs, of at most kAsyncOwnersMax owners.
Prediction predict(const PilotStatistics& statistics, const AsyncJob& job,
                   const Effort& effort = {});

/// E f - f* of any loss, taken for the quadratic that it is near the optimum, without a clip:
/// quick, to compare jobs.
double async_excess_near(const PilotStatistics& statistics, const AsyncJob& job);

/// By drawing the noise; for the squared loss.
Prediction predict(const PilotStatistics& statistics, const StatisticsJob& job);

/// What a thousand rows say of other variances of the noise: runs that do not depend on each other.
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

/// The prediction of other variances of the noise, around that of the job.
Response response_of(const SyncJob& job, const Prediction& exact);
Response response_of(const PilotStatistics& statistics, const AsyncJob& job,
                     const Prediction& here);
Response response_of(const PilotStatistics& statistics, const StatisticsJob& job,
                     const Prediction& here);

}  // namespace parley::forecast
