// For whom it pays where owners hold columns of the same records: alone an owner would have its own
// columns only (and the labels), and whoever leaves takes its columns away. All records' noise is
// that of the strictest budget.
#pragma once

#include "parley/forecast/forecast.h"
#include "parley/forecast/study.h"

namespace parley::forecast {

/// Owners, groups and epsilons. After add_band; `study` has one player, who holds everything.
Result<void> add_column_owners(Forecast& result, const Study& study,
                               const ForecastOptions& options);

/// Groups are tried one by one up to so many owners; beyond, only those that miss one.
inline constexpr size_t kColumnOwnersTried = 6;

}  // namespace parley::forecast
