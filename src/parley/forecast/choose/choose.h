// What a draft leaves open is chosen on the public rows: clip, rule, rounds, step, momentum,
// average, start and weights, each with its reason (spec, horizontal 3.2 to 3.7).
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

/// A charter whose every value is set, and how far from the best it is expected to end.
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

/// Candidates are compared by exact moments on the clipped quadratic near the optimum plus what the
/// clip moves it by; the best of every rule then by the predictors themselves.
Result<Choosing> choose(const charter::Charter& draft, const PilotStatistics& statistics,
                        const Given& given, int threads);

/// The best of a few candidates, judged by the predictors; of all, or of the `most` that look best
/// near the optimum.
Result<Candidate> best_candidate(const charter::Charter& draft, const PilotStatistics& statistics,
                                 const Given& given, int threads, size_t most);
/// Halves its rounds while that costs less than `slack`, in units of f*, in all.
Candidate with_fewer_rounds(Candidate best, const PilotStatistics& statistics, const Given& given,
                            int threads, double slack);
/// Moves it to half or twice a value, but not to other rounds, while that is better, and says why
/// each value was taken.
std::vector<Choice> explain(const charter::Charter& draft, Candidate& best,
                            const PilotStatistics& statistics, const Given& given, int threads);

/// How far from the best such a choice would end, in units of f*, without saying which it is.
Result<double> reachable(const charter::Charter& draft, const PilotStatistics& statistics,
                         const Given& given, int threads);

// Which clips are worth looking at, and what each does to the optimum (spec, horizontal 3.2).

/// Quantiles of the public records' gradients, or the one that is given.
std::vector<double> clips(const charter::Charter& draft, const PilotStatistics& statistics,
                          const Given& given);

/// The length that this share of the public records' gradients at the optimum does not exceed, in
/// the norm of the draft's mechanism, as rounded(). The share is never less than 98 % where one
/// class has fewer than 5 % of the rows: little would be left of it.
double clip_at(const charter::Charter& draft, const PilotStatistics& statistics, double share);

/// Near the optimum of the clipped loss: where it lies, its curvature, what it costs.
struct Clipped {
  double clip = 0;
  std::vector<double> theta{}, hessian{}, inverse{};
  double bias = 0;  // f(theta) - f*
};

/// A few Newton steps from the optimum; the clip moves it little, or is not worth looking at.
std::optional<Clipped> clipped_at(const charter::Charter& draft, const PilotStatistics& statistics,
                                  double clip);

/// The share of public records whose gradient at the optimum is longer than the charter's clip.
double clipped_share(const charter::Charter& charter, const PilotStatistics& statistics);

/// Two significant digits, upwards: people will read it.
double rounded(double value);

// The search behind choose.h.

/// A few complete charters that look best near the optimum, at most one of each rule and clip.
Result<std::vector<Candidate>> shortlist(const charter::Charter& draft,
                                         const PilotStatistics& statistics, const Given& given);

// What a federated draft leaves open: local steps and rounds, their length, the clip, the start.

/// `pilot` are the public rows as published; the statistics' are shortened as training would.
Result<Choosing> choose_federated(const charter::Charter& draft, const PilotStatistics& statistics,
                                  const data::Rows& pilot, const Given& given,
                                  const ForecastOptions& options);

// How many local steps between two aggregations (spec, vertical 3.3): privacy leaves it open, since
// noise grows as fast as aggregations become fewer; what limits it is that owners differ.
//
// A bound gives a floor that is surely safe. The forecasts themselves, at the same number of local
// steps in all, say more, and the advice is theirs.

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
  /// Up to here the bracket at most doubles.
  int64_t floor() const;
  /// Where the error and a price per aggregation together are least, of at most `most`.
  int64_t priced(double price, int64_t most) const;
};

}  // namespace parley::forecast
