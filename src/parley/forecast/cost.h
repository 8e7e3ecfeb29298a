// What a job costs in traffic and time, from public numbers.
#pragma once

#include "parley/charter/charter.h"
#include "parley/forecast/forecast.h"

namespace parley::forecast {

/// Rounds; bytes that one owner sends and receives; seconds of a round, without the network's own
/// delay: the slowest owner's pass over its rows.
CostForecast cost_of(const charter::Charter& charter);

}  // namespace parley::forecast
