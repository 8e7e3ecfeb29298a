// How sure a forecast is: the noise makes every run another one, and the public rows are a sample.
#pragma once

#include <vector>

#include "parley/charter/charter.h"
#include "parley/forecast/facts.h"
#include "parley/forecast/jobs.h"
#include "parley/forecast/predict/predict.h"

namespace parley::forecast {

/// Draws of a distribution of models, clamped to the box; always the same ones.
std::vector<std::vector<double>> models_of(const Landing& landing, double box, size_t count);

/// f - f* of such models, with mean `prediction.excess`, in no order.
std::vector<double> excess_draws(const Facts& facts, const Prediction& prediction);

/// The value below which a share of them lies.
double quantile(std::vector<double> values, double share);

/// The public rows in five parts, each with facts of its own.
std::vector<Facts> parts_of(const charter::Model& model, const Facts& facts);

/// What the public rows leave uncertain, in units of f*, from what their parts would forecast.
struct PilotError {
  double relative = 0;  // standard error of the expected excess, relative to it
  /// Steps and preconditioner fit the public rows' curvature, not quite the owners': what that is
  /// expected to add. A part of the rows differs from all of them as these do from the owners',
  /// only more, by the ratio of their numbers.
  double curvature = 0;
};
PilotError pilot_error(const std::vector<Facts>& parts, const Facts& facts, const Job& job,
                       const Prediction& here, double owners_rows, int threads);

/// Two halves of the public rows disagree by so many times what chance would give: far above 1,
/// they are not one sample, and the owners' rows may be another one again.
double disagreement(const charter::Model& model, const Facts& facts);

}  // namespace parley::forecast
