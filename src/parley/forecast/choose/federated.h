// What a federated draft leaves open: local steps and rounds, their length, the clip, the start.
#pragma once

#include "parley/forecast/choose/choose.h"

namespace parley::forecast {

/// `pilot` are the public rows as published; those of the facts are shortened as training would.
Result<Choosing> choose_federated(const charter::Charter& draft, const PilotStatistics& facts,
                                  const data::Rows& pilot, const Given& given,
                                  const ForecastOptions& options);

}  // namespace parley::forecast
