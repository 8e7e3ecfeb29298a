// From an asynchronous charter and its pilot to the learner's plan.
#pragma once

#include "parley/charter/charter.h"
#include "parley/data/rows.h"
#include "parley/learn/schedule/async_descent.h"
#include "parley/plan/learner/weights.h"

namespace parley::plan {

/// All a learner knows: public numbers of the charter.
struct AsyncPlan {
  Hash charter{};
  std::vector<PlannedOwner> owners{};
  double gamma = 0;      // of the lattice on which answers arrive
  uint32_t answers = 0;  // most of one owner
  charter::Contact contact = charter::Contact::kOwnerRequests;
  learn::AsyncRule rule{};
  /// Set where the model is evaluated after the last round.
  std::optional<learn::EvaluationMap> evaluation{};
  size_t quorum = 1;  // evaluations that are enough when the time is up
};

/// `pilot` holds the charter's public rows; null where it has none. Refuses steps with which the
/// copy of some owner would swing further and further (theory (D9)). That is
/// decided on public numbers, the pilot's curvature or the bounds of the columns, before the first
/// question: a refusal that looked at owners' rows would tell about them.
Result<AsyncPlan> async_plan(const charter::Charter& charter, const data::Rows* pilot);

/// The equations' constants alone, for any calibration.
learn::AsyncRule async_rule(const charter::Charter& charter);

}  // namespace parley::plan
