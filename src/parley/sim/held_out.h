// The four figures of every owner of a simulated job (learn/personal/figures.h). A part of each
// owner's rows is kept out of a further run of the same job, whose model is then judged there
// beside what the owner has alone and with the public rows.
#pragma once

#include <functional>
#include <vector>

#include "parley/base/result.h"
#include "parley/sim/simulate.h"

namespace parley::sim {

/// Of all owners. Beyond it figures are made only if they are asked for: cross-validation and trees
/// take far longer than the job.
inline constexpr size_t kFigureRowsMax = 10'000;

/// The part that is held out: as asked for; a fifth of few rows; else 0.
double held_out_part(const SimulateInput& input, const SimulateOptions& options);

/// Trains on the rows that are not held out, and gives the joint model.
using TrainOnce = std::function<Result<std::vector<double>>(const SimulateInput& kept)>;

/// Rows are held out by the seed. An owner whose rows do not define the metric has a reason
/// instead.
Result<std::vector<SimulateResult::OwnFigures>> held_out_figures(const SimulateInput& input,
                                                                 const SimulateOptions& options,
                                                                 const TrainOnce& train);

}  // namespace parley::sim
