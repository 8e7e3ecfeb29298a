// Where training without privacy comes in. A charter with calibration "paper" asks for a paper's
// own formulas, which promise nothing; the library has no code for them, and `simulate` takes it as
// an argument. The program `parley` passes that of studies/paper/literal.h.
#pragma once

#include <functional>

#include "parley/sim/columns.h"
#include "parley/sim/outcome.h"

namespace parley::sim {

/// What is returned may refer to both arguments.
struct Literal {
  /// Owners hold rows.
  std::function<Result<Run>(const SimulateInput&, const SimulateOptions&)> rows;
  /// Owners hold columns.
  std::function<Result<ColumnsJob>(const SimulateInput&, const SimulateOptions&)> columns;
};

}  // namespace parley::sim
