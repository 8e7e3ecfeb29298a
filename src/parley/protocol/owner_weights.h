// The weights v_i that the learner gives the owners' answers.
#pragma once

#include <vector>

#include "parley/charter/charter.h"
#include "parley/data/rows.h"
#include "parley/gate/gate.h"
#include "parley/learn/kernel/lattice.h"
#include "parley/learn/schedule/schedule.h"
#include "parley/protocol/job.h"

namespace parley::protocol {

/// The variance of the noise on one coordinate of the owner's mean answer.
Result<double> noise_variance(const charter::Charter& charter, size_t owner);

/// What the plan says of the evaluation: how answers are read, if there is one, and of every owner
/// how much noise is in its.
Result<std::optional<learn::EvaluationMap>> plan_evaluation(const charter::Charter& charter,
                                                            const gate::Terms& terms,
                                                            std::vector<PlannedOwner>& owners);

/// In the charter's order; they add up to 1. From public numbers only: the charter's rows and
/// epsilons, and for noise_optimal the schedule and the pilot.
Result<std::vector<double>> owner_weights(const charter::Charter& charter,
                                          const learn::Schedule& schedule, const data::Rows* pilot,
                                          const learn::Lattice& lattice);

}  // namespace parley::protocol
