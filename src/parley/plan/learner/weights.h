// The weights v_i that the learner gives the owners' answers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/data/rows.h"
#include "parley/learn/kernel/lattice.h"
#include "parley/learn/schedule/schedule.h"
#include "parley/plan/terms.h"

namespace parley::plan {

/// What a learner knows of an owner: public numbers of the charter.
struct PlannedOwner {
  std::string name;
  uint64_t rows = 0;
  double weight = 0;                  // v_i; they add up to 1
  std::optional<SignKey> sign_key{};  // its receipts must be signed by it; none in a simulation
  double evaluation_variance = 0;     // of the noise in its evaluation, in lattice units
};

/// Has every owner a sign_key, and of its own? Without one its letters could be anybody's.
Result<void> every_sign_key(const charter::Charter& charter);

/// From now on receipts must be signed. A charter without a key for an owner is refused.
Result<void> require_signatures(std::vector<PlannedOwner>& owners, const charter::Charter& charter);

/// n_i / n of every owner.
std::vector<double> row_weights(const charter::Charter& charter);

/// The variance of the noise on one coordinate of the owner's mean answer.
Result<double> noise_variance(const charter::Charter& charter, size_t owner);

/// What the plan says of the evaluation: how answers are read, if there is one, and of every owner
/// how much noise is in its.
Result<std::optional<learn::EvaluationMap>> plan_evaluation(const charter::Charter& charter,
                                                            const Terms& terms,
                                                            std::vector<PlannedOwner>& owners);

/// In the charter's order; they add up to 1. From public numbers only: the charter's rows and
/// epsilons, and for noise_optimal the schedule and the pilot.
Result<std::vector<double>> owner_weights(const charter::Charter& charter,
                                          const learn::Schedule& schedule, const data::Rows* pilot,
                                          const learn::Lattice& lattice);

}  // namespace parley::plan
