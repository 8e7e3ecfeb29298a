// The report's pictures of a forecast.
#pragma once

#include <string>

#include "parley/report/forecast/forecast.h"

namespace parley::report {

/// Relative fitness against an epsilon of everyone, with what owners reach alone.
std::string epsilon_chart(const Forecast& forecast);
/// Relative fitness by epsilon and rows, with the line right of which joint is ahead of every owner
/// alone.
std::string epsilon_rows_map(const Forecast& forecast);
/// What an owner would have to give by what the others give; empty for a single owner.
std::string break_even_chart(const Forecast& forecast);
/// What of an owner's budget is gone as the job goes on, and if it is run again and again.
std::string budget_chart(const Forecast& forecast);
/// Forecast, the papers' bounds with fitted constants, runs, and what came out.
std::string comparison_chart(const Forecast& forecast);

}  // namespace parley::report
