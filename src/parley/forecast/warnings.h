// What should be known before anyone relies on a forecast, or starts the job.
#pragma once

#include "parley/charter/charter.h"
#include "parley/forecast/forecast.h"
#include "parley/forecast/predict/predict.h"

namespace parley::forecast {

/// `disagreement` of the two halves of the public rows, see uncertainty.h.
void add_warnings(Forecast& forecast, const charter::Charter& charter, const Prediction& prediction,
                  double disagreement);

/// `error` of the expected figure, relative to it, that public and owners' rows leave as samples.
void warn_of_samples(Forecast& forecast, double error);
/// Names columns of which the public rows hardly know anything (spec, value 6).
void warn_of_thin_columns(Forecast& forecast, const data::Schema& schema, const data::Rows& pilot);
/// Of owners that are declared to differ by this much, and take local steps.
void warn_of_differences(Forecast& forecast, double differ);

}  // namespace parley::forecast
