// What a draft leaves open is chosen on the public rows: clip, rule, rounds, step, momentum,
// average, start and weights, each with its reason (spec, horizontal 3.2 to 3.7).
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/forecast/forecast.h"
#include "parley/forecast/pilot_statistics.h"

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

}  // namespace parley::forecast
