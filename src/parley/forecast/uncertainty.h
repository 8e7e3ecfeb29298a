// How sure a forecast is: the noise makes every run another one, and the public rows are a sample.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/forecast/jobs.h"
#include "parley/forecast/pilot_statistics.h"
#include "parley/forecast/predict/predict.h"

namespace parley::forecast {

/// Draws of a distribution of models, clamped to the box; always the same ones.
std::vector<std::vector<double>> models_of(const OutputDistribution& distribution, double box,
                                           size_t count);

/// f - f* of such models, with mean `prediction.excess`, in no order.
std::vector<double> excess_draws(const PilotStatistics& statistics, const Prediction& prediction);

/// The half width of a 90 % interval of a normal number, in deviations.
inline constexpr double kNormal = 1.645;

/// The value below which a share of them lies.
double quantile(std::vector<double> values, double share);

/// Several views of the public rows, each with statistics of its own: five parts of them, or others
/// drawn from the same moments after as much noise again.
struct Views {
  std::vector<PilotStatistics> statistics{};
  bool redrawn = false;
};
using ManyRows = std::vector<std::shared_ptr<const data::Rows>>;
Views views_of(const charter::Model& model, const PilotStatistics& statistics,
               const ManyRows& redrawn, int threads);

/// What the public rows leave uncertain, in units of f*, from what their views would forecast.
struct PilotError {
  double relative = 0;  // standard error of the expected excess, relative to it
  /// Steps and preconditioner fit the public rows' curvature, not quite the owners': what that is
  /// expected to add. A part of the rows differs from all of them as these do from the owners',
  /// only more, by the ratio of their numbers; another drawing just as much.
  double curvature = 0;
};
/// Other work that threads can do while views are forecast: work(k) for every k below count.
struct Meanwhile {
  size_t count = 0;
  std::function<void(size_t)> work{};
};
PilotError pilot_error(const Views& views, const PilotStatistics& statistics, const Job& job,
                       const Prediction& here, double owners_rows, int threads,
                       const Meanwhile& meanwhile = {});

/// The relative error of an expected excess `psi` f*, if the owners' rows are so few that they are
/// a sample with a luck of its own, of which also f* depends: near it the excess moves with f*, far
/// from it a model is as bad as it is.
double with_owners_luck(const PilotStatistics& statistics, double relative, double psi,
                        double owners_rows);

/// Two halves of the public rows disagree by so many times what chance would give: far above 1,
/// they are not one sample, and the owners' rows may be another one again.
double disagreement(const charter::Model& model, const PilotStatistics& statistics);

}  // namespace parley::forecast
