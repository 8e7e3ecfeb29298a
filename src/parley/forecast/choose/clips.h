// Which clips are worth looking at, and what each does to the optimum (spec, horizontal 3.2).
#pragma once

#include <optional>
#include <vector>

#include "parley/forecast/choose/choose.h"

namespace parley::forecast {

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

}  // namespace parley::forecast
