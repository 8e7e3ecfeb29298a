// simulate() with two additions: rows in another program's memory, and, for a program that has
// them, the formulas of the papers.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "parley/data/sources/cells.h"
#include "parley/simulate.h"

namespace parley::sim {
struct Literal;
}

namespace parley::api {

/// `paper` trains charters with calibration "paper", which are refused if it is null.
Result<Simulation> simulate(const Charter& charter, const DataSource& data,
                            const SimulateOptions& options, const sim::Literal* paper);

/// A table for each owner, read where it lies.
struct OwnerCells {
  std::map<std::string, std::shared_ptr<const data::Cells>> tables;
};
Result<Simulation> simulate(const Charter& charter, const OwnerCells& data,
                            const SimulateOptions& options);

}  // namespace parley::api
