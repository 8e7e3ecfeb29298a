// simulate() for a program that also has the papers' own formulas.
#pragma once

#include "parley/simulate.h"

namespace parley::sim {
struct Literal;
}

namespace parley::api {

/// `paper` trains charters with calibration "paper", which are refused if it is null.
Result<Simulation> simulate(const Charter& charter, const DataSource& data,
                            const SimulateOptions& options, const sim::Literal* paper);

}  // namespace parley::api
