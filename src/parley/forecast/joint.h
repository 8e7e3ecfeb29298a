// What is expected of the joint model, and how surely: the parts of a forecast that do not depend
// on how the data are divided among owners.
#pragma once

#include "parley/forecast/forecast.h"
#include "parley/forecast/study.h"

namespace parley::forecast {

/// The metric that users of the model care about.
Measure measure_of(const charter::Charter& charter, const PilotStatistics& statistics);

/// Optimisation, noise and gain; the public rows alone.
void add_parts(Forecast& result, const Study& study);
void add_distance(Forecast& result, const Study& study);
void add_metrics(Forecast& result, const Study& study);
/// `error` of the expected value, relative to it, that the public rows leave.
void add_band(Forecast& result, const Study& study, double error);

}  // namespace parley::forecast
