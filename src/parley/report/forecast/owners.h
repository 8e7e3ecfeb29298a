// Tables of a forecast's owners, the same for the terminal and the page: rows of cells, the first
// is the header.
#pragma once

#include <string>
#include <vector>

#include "parley/report/forecast/forecast.h"

namespace parley::report {

using Cells = std::vector<std::vector<std::string>>;

/// Gains with their interval, the threshold, and verdicts; of the first `most` owners.
Cells verdict_cells(const Forecast& forecast, size_t most);
/// The four figures with their intervals; two where owners hold columns.
Cells figure_cells(const Forecast& forecast, size_t most);
/// The papers' measure: relative fitness over all rows, break-even and Shapley shares.
Cells paper_cells(const Forecast& forecast, size_t most);

/// RMSE | AUC | log loss.
std::string metric_name(const Forecast& forecast);
/// The user's metric with as many digits as show what counts, between two and four.
std::string metric_text(const Forecast& forecast, double value);
std::string range_text(const Forecast& forecast, const MetricRange& range);

}  // namespace parley::report
