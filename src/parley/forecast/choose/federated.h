// What a federated draft leaves open: local steps and rounds, their length, the clip, the start.
#pragma once

#include "parley/forecast/choose/choose.h"

namespace parley::forecast {

/// `pilot` are the public rows as published; the statistics' are shortened as training would.
Result<Choosing> choose_federated(const charter::Charter& draft, const PilotStatistics& statistics,
                                  const data::Rows& pilot, const Given& given,
                                  const ForecastOptions& options);

}  // namespace parley::forecast
