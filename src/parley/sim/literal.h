// Where training without privacy is plugged in. A charter with calibration "paper" asks for a
// paper's own formulas, which give no privacy. The library has no code for them; `simulate` takes
// it as an argument, and the program `parley` passes that of studies/paper/literal.h.
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
