// A charter of rule "distance", which trains nothing: its clip is chosen on the public rows, and
// what its one number would tell is said before anyone pays.
#pragma once

#include "parley/forecast/choose/tune.h"

namespace parley::forecast {

Result<Tuned> forecast_distance_draft(const Draft& draft,
                                      const std::shared_ptr<const data::Rows>& pilot,
                                      const ForecastOptions& options);

}  // namespace parley::forecast
