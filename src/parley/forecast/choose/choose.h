// Chooses what a draft charter leaves open, on the public rows: clip, rule, rounds, step, momentum,
// average, start and weights, each with its reason.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/forecast/forecast.h"
#include "parley/forecast/pilot/statistics.h"
#include "parley/forecast/predict/predict.h"

namespace parley::forecast {

/// A charter whose every value is set, and its expected relative fitness.
struct Candidate {
  charter::Charter charter{};
  double psi = 0;
};

struct Choosing {
  Candidate best{};
  std::vector<Choice> choices{};
};

/// Whether the charter's authors wrote this key down; what they did not may be chosen.
using Given = std::function<bool(std::string_view key)>;

/// Candidates are compared first by exact moments of the quadratic approximation at the optimum of
/// the clipped loss, plus the bias of that optimum; the best of every rule then by the predictors.
Result<Choosing> choose(const charter::Charter& draft, const PilotStatistics& statistics,
                        const Given& given, int threads);

/// The best candidate by the predictors, of all or of the `most` best by the approximation.
Result<Candidate> best_candidate(const charter::Charter& draft, const PilotStatistics& statistics,
                                 const Given& given, int threads, size_t most);
/// Halves the rounds of a candidate as long as its psi rises by less than `slack` in all.
Candidate with_fewer_rounds(Candidate best, const PilotStatistics& statistics, const Given& given,
                            int threads, double slack);
/// Halves or doubles single values of a candidate, but for its rounds, as long as that is better,
/// and says why each value was taken.
std::vector<Choice> explain(const charter::Charter& draft, Candidate& best,
                            const PilotStatistics& statistics, const Given& given, int threads);

/// The relative fitness that choose() would reach.
Result<double> reachable(const charter::Charter& draft, const PilotStatistics& statistics,
                         const Given& given, int threads);

/// A few complete charters that are best by the approximation, at most a few of each rule
/// (search.cc).
Result<std::vector<Candidate>> shortlist(const charter::Charter& draft,
                                         const PilotStatistics& statistics, const Given& given);

// --- Clips (clips.cc)

/// Candidates: quantiles of the lengths of the public records' gradients, or the clip that is
/// given.
std::vector<double> clips(const charter::Charter& draft, const PilotStatistics& statistics,
                          const Given& given);

/// The length that this share of the public records' gradients at the optimum does not exceed, in
/// the norm of the draft's mechanism, as rounded(). The share is never less than 98 % where one
/// class has fewer than 5 % of the rows: most of its gradients would be clipped.
double clip_at(const charter::Charter& draft, const PilotStatistics& statistics, double share);

/// The optimum of the clipped loss, its Hessian, and its bias.
struct Clipped {
  double clip = 0;
  std::vector<double> theta{}, hessian{}, inverse{};
  double bias = 0;  // f(theta) - f*
};

/// By four Newton steps from the optimum of the loss. None where the Hessian vanishes.
std::optional<Clipped> clipped_at(const charter::Charter& draft, const PilotStatistics& statistics,
                                  double clip);

/// The share of public records whose gradient at the optimum is longer than the charter's clip.
double clipped_share(const charter::Charter& charter, const PilotStatistics& statistics);

/// Rounded up to two significant digits, for a charter that people read.
double rounded(double value);

// --- Federated drafts

/// Local steps and rounds, their length, the clip, the start. `pilot` are the public rows as
/// published; those of `statistics` are shortened as in training.
Result<Choosing> choose_federated(const charter::Charter& draft, const PilotStatistics& statistics,
                                  const data::Rows& pilot, const Given& given,
                                  const ForecastOptions& options);

// How many local steps between two aggregations? Privacy does not decide it: with fewer
// aggregations the noise of each grows in proportion. Client drift does. A bound gives a number
// that is safe; the advice comes from forecasts at the same number of local steps in all.

struct StepsQuestion {
  const charter::Charter& charter;  // complete
  const PilotStatistics& statistics;
  const data::Rows& pilot;  // as published
  const Job& job;           // a FederatedJob
  const Prediction& prediction;
  double best = 0;   // f*
  double price = 0;  // of an aggregation, in relative fitness; 0: none is given
};

StepsAdvice advise_steps(const StepsQuestion& question);

/// Theorem 4's error with the dissimilarity of gradients in place of their largest size.
struct StepsBound {
  double smooth = 0, convex = 0;  // L and lambda
  double steps = 0;               // T
  double optima = 0;              // Gamma
  double gradients = 0;           // zeta^2
  double noise = 0;               // d sigma^2, of one step's gradient
  double at(double local_steps) const;
  /// The largest number of local steps at which the bracket of the bound at most doubles.
  int64_t floor() const;
  /// The number of at most `most` at which the error and a price per aggregation together are
  /// least.
  int64_t priced(double price, int64_t most) const;
};

}  // namespace parley::forecast
