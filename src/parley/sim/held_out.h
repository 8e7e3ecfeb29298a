// The four figures of every owner of a simulated job (learn/personal/figures.h): the job's model
// beside what the owner has alone and with the public rows. They are measured either on fresh rows
// of the owners, or on a part of their rows that is left out of a second run of the same job.
#pragma once

#include <functional>
#include <vector>

#include "parley/base/result.h"
#include "parley/sim/simulate.h"

namespace parley::sim {

/// Of all owners. Beyond it figures are made only if they are asked for: cross-validation and trees
/// take far longer than the job.
inline constexpr size_t kFigureRowsMax = 10'000;

/// Do all owners bring rows to judge by, and does the job train a model that can be?
bool has_fresh_rows(const SimulateInput& input);

/// The part that is held out: as asked for; a fifth of few rows; else 0. 0 with fresh rows.
double held_out_part(const SimulateInput& input, const SimulateOptions& options);

/// Trains on the rows that are not held out, and gives the joint model.
using TrainOnce = std::function<Result<std::vector<double>>(const SimulateInput& kept)>;

// An owner whose rows do not define the metric has a reason instead.

/// Of the joint model on the owners' fresh rows.
std::vector<SimulateResult::OwnFigures> fresh_figures(const SimulateInput& input,
                                                      const SimulateOptions& options,
                                                      const std::vector<double>& joint);

/// Rows are held out by the seed.
Result<std::vector<SimulateResult::OwnFigures>> held_out_figures(const SimulateInput& input,
                                                                 const SimulateOptions& options,
                                                                 const TrainOnce& train);

}  // namespace parley::sim
