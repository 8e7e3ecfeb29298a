// The four figures of owners on their own rows, as measured by a simulation: for each owner, and
// over all of them. A gain is that of the personal model, and is always reported with what it is
// compared with.
#pragma once

#include <string>
#include <vector>

#include "parley/sim/simulate.h"

namespace parley::report {

/// Gains of all owners against one of the other figures.
struct GainSummary {
  double mean = 0, error = 0;     // over owners, and its standard error
  size_t material = 0, lost = 0;  // owners that gain, or lose, as much as counts
};

/// Means over the owners that have figures, by one metric.
struct FiguresSummary {
  learn::Measure measure = learn::Measure::kRmse;
  double worth = 0;  // what counts, as learn::default_worth
  size_t owners = 0;
  double alone = 0, own_public = 0, joint = 0, personal = 0;
  GainSummary against_alone{}, against_own_public{};
};

/// By the owners' metric and, where there are classes, by log loss; empty without figures.
std::vector<FiguresSummary> summaries_of(const sim::SimulateResult& result);

/// Of one owner: does it gain as much as counts? A share of `than` where smaller is better.
bool counts(learn::Measure measure, double worth, double gain, double than);

std::string_view title_of(learn::Measure measure);  // RMSE | log loss | AUC
/// "0.002 of AUC" | "0.5 % of RMSE".
std::string worth_text(const FiguresSummary& summary);
/// "38 of 40 owners gain 0.002 of AUC or more against alone, 1 loses as much; ..."
std::string gains_sentence(const FiguresSummary& summary);

/// Is the mean gain, against alone or of the job itself, too little to count?
bool nothing_gained(const FiguresSummary& summary);
bool nothing_of_the_job(const FiguresSummary& summary);
/// Says so plainly; empty where there is something to be gained.
std::string nothing_sentence(const FiguresSummary& summary);

/// Of every owner and the means; the first row is the header.
std::vector<std::vector<std::string>> figures_cells(const sim::SimulateResult& result);
/// Why some owners have none, and what the words mean: lines.
std::string figures_notes(const sim::SimulateResult& result);
/// Tables and what the words mean; empty without figures.
std::string figures_text(const sim::SimulateResult& result);
std::string figures_json(const sim::SimulateResult& result);  // own_rows of parley.simulate/1

}  // namespace parley::report
