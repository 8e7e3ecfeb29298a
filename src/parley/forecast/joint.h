// What is expected of the joint model, and how surely: the parts of a forecast that do not depend
// on how the data are divided among owners.
#pragma once

#include "parley/forecast/forecast.h"
#include "parley/forecast/metric_estimator.h"
#include "parley/forecast/study.h"

namespace parley::forecast {

/// Optimisation, noise and gain; the public rows alone.
void add_parts(Forecast& result, const Study& study);
void add_distance(Forecast& result, const Study& study);
void add_metrics(Forecast& result, const Study& study, const MetricEstimator& estimator);
/// `error` of the expected value, relative to it, that the public rows leave.
void add_band(Forecast& result, const Study& study, const MetricEstimator& estimator, double error);

/// Expected values say who gains; that an owner surely does takes more than the 90 % interval of
/// runs and `own`, the relative deviation of what it reaches alone. After add_band.
bool surely(const RelativeFitness& joint, double local_only, double own);

}  // namespace parley::forecast
