// A forecast side by side with the outcome on owners' own rows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parley/report/forecast/forecast.h"
#include "parley/sim/simulate.h"

namespace parley::report {

/// One of the four figures, or a gain.
struct Beside {
  std::string what{};
  MetricRange forecast{};  // means over owners; the interval is that of one owner
  double came_out = 0;     // mean over owners
  /// Owners whose outcome lies in their own 90 % interval, which is widened by the outcome's error:
  /// few rows to judge by say little.
  size_t inside = 0;
};

/// Verdicts "worth it" against one of the other figures.
struct Told {
  size_t worth_it = 0, gained = 0;  // of those, owners that gained as much as counts
  size_t missed = 0;                // owners that gained as much and were not told so
};

struct BesideTable {
  size_t owners = 0;  // with a forecast and figures
  std::vector<Beside> rows{};
  Told against_alone{}, against_own_public{};
};

/// Both are of one charter, whose owners hold rows.
BesideTable beside(const Forecast& forecast, const sim::SimulateResult& result);

std::string to_text(const BesideTable& table, const Forecast& forecast);
/// Rows of cells, the first is the header.
std::vector<std::vector<std::string>> beside_cells(const BesideTable& table,
                                                   const Forecast& forecast);
std::string told_sentence(const BesideTable& table);

}  // namespace parley::report
