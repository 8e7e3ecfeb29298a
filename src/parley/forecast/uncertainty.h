// The uncertainty of a forecast. It has two sources: runs differ by their noise, and the public
// rows are only a sample.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/forecast/pilot/statistics.h"
#include "parley/forecast/predict/predict.h"

namespace parley::forecast {

/// Draws of a distribution of models, clamped to the box; always the same ones.
std::vector<std::vector<double>> models_of(const OutputDistribution& distribution, double box,
                                           size_t count);

/// f - f* of such models, scaled to the mean `prediction.excess`; not sorted.
std::vector<double> excess_draws(const PilotStatistics& statistics, const Prediction& prediction);

/// Half the width of a normal number's 90 % interval, in standard deviations.
inline constexpr double kNormal = 1.645;

/// Resamples of the public rows, each with statistics of its own: five subsamples; or, where the
/// rows were drawn from noisy moments, rows drawn from these moments with noise added once more.
struct Resamples {
  std::vector<PilotStatistics> statistics{};
  bool redrawn = false;
};
using ManyRows = std::vector<std::shared_ptr<const data::Rows>>;
Resamples resamples_of(const charter::Model& model, const PilotStatistics& statistics,
                       const ManyRows& redrawn, int threads);

/// How uncertain the public rows leave a forecast, estimated from the forecasts of their resamples.
struct PilotError {
  double relative = 0;  // standard error of the expected excess, relative to it
  /// Steps and preconditioner fit the pilot's Hessian, not the owners': the expected excess of
  /// that, in units of f*. Five subsamples of the pilot estimate the error of its Hessian: the
  /// forecast of a subsample is off by more, in the ratio of the variances; that of redrawn rows by
  /// as much.
  double curvature = 0;
};
/// Other work for the threads while resamples are forecast: work(k) for every k below count.
struct Meanwhile {
  size_t count = 0;
  std::function<void(size_t)> work{};
};
PilotError pilot_error(const Resamples& resamples, const PilotStatistics& statistics,
                       const Job& job, const Prediction& here, double owners_rows, int threads,
                       const Meanwhile& meanwhile = {});

/// The relative error of an expected excess `psi` f* where the owners' rows are few: the sampling
/// error of the owners' own rows, and that of f* itself, which counts fully up to psi = 1.
double with_owners_sampling(const PilotStatistics& statistics, double relative, double psi,
                            double owners_rows);

/// The distance between the optima of the two halves of the public rows, relative to what two
/// random samples have. Far above 1 the halves are not one sample, and owners' rows may differ
/// again.
double disagreement(const charter::Model& model, const PilotStatistics& statistics);

}  // namespace parley::forecast
