// Jobs over columns in several places, all parties in one process.
#pragma once

#include "parley/sim/literal.h"
#include "parley/sim/simulate.h"

namespace parley::sim {

/// `parley simulate` of a charter with protocol.name = "sharing"; rule admm by `paper`.
Result<SimulateResult> simulate_vertical(const SimulateInput& input, const SimulateOptions& options,
                                         const Literal* paper);

}  // namespace parley::sim
