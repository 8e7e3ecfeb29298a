// A forecast and what then came out, side by side.
#pragma once

#include <string>

#include "parley/report/forecast/forecast.h"
#include "parley/sim/simulate.h"

namespace parley::report {

void add_realised(Forecast& forecast, const sim::SimulateResult& result);

/// The forecast, the simulation, and a table of both.
std::string beside_text(const Forecast& forecast, const sim::SimulateResult& result);
/// {"forecast": parley.forecast/1, "simulate": parley.simulate/1}.
std::string beside_json(const Forecast& forecast, const sim::SimulateResult& result);

}  // namespace parley::report
