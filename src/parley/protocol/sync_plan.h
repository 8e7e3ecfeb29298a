// From a charter and its pilot to the learner's plan.
#pragma once

#include "parley/charter/charter.h"
#include "parley/data/rows.h"
#include "parley/learn/kernel/lattice.h"
#include "parley/protocol/sync.h"

namespace parley::protocol {

/// The charter's rule as a table of steps, from its start and, for pilot_newton, the inverse
/// Hessian there.
learn::Schedule step_table(const charter::Charter& charter, std::vector<double> start,
                           std::vector<double> inverse_hessian);

/// Where the charter says that training starts.
Result<std::vector<double>> start_of(const charter::Charter& charter, const data::Rows* pilot,
                                     size_t dimension);

/// That table for a synchronous charter, whose owners clip on this lattice.
Result<learn::Schedule> sync_schedule(const charter::Charter& charter, const data::Rows* pilot,
                                      const learn::Lattice& lattice);
/// Of pilot_newton: eigenvalues of the pilot's curvature below it count as it. So the noise of one
/// step is at most a quarter of the box in any direction, also where public rows are constant.
Result<double> newton_floor(const charter::Charter& charter);

/// `pilot` holds the charter's public rows; null where it has none. All that the plan contains
/// follows from public values.
Result<SyncPlan> sync_plan(const charter::Charter& charter, const data::Rows* pilot);

}  // namespace parley::protocol
