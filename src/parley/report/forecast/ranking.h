// The designs that were compared for a draft that left features and protocol open, and what each
// would cost.
#pragma once

#include <string>

#include "parley/report/forecast/owners.h"

namespace parley::report {

/// A header, then the chosen design and its runners-up, with what each would lose.
Cells ranking_cells(const Forecast& forecast);
/// Empty where nothing was compared.
std::string ranking_text(const Forecast& forecast);
std::string ranking_json(const Forecast& forecast);

}  // namespace parley::report
