// For whom it pays where owners hold rows: figures of every owner on its own population, in the
// user's metric, with verdicts; and by the papers' measure break-even, shares, groups and epsilons.
// column_owners.h has the other case.
#pragma once

#include "parley/forecast/forecast.h"
#include "parley/forecast/study.h"

namespace parley::forecast {

/// After add_band and add_grid.
void add_row_owners(Forecast& result, const Study& study, const ForecastOptions& options);

}  // namespace parley::forecast
