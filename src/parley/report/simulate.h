// The result of a simulation, for people and for programs. Both are made from the same struct.
#pragma once

#include <string>

#include "parley/sim/simulate.h"

namespace parley::report {

std::string to_text(const sim::SimulateResult& result);
std::string to_json(const sim::SimulateResult& result);  // formats/json: parley.simulate/1

}  // namespace parley::report
