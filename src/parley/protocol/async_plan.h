// From an asynchronous charter and its pilot to the learner's plan.
#pragma once

#include "parley/charter/charter.h"
#include "parley/data/rows.h"
#include "parley/protocol/async.h"

namespace parley::protocol {

/// `pilot` holds the charter's public rows; null where it has none. Refuses steps with which the
/// copy of some owner would swing further and further (specification, horizontal 1.6). That is
/// decided on public numbers, the pilot's curvature or the bounds of the columns, before the first
/// question: a refusal that looked at owners' rows would tell about them.
Result<AsyncPlan> async_plan(const charter::Charter& charter, const data::Rows* pilot);

/// The equations' constants alone, for any calibration.
learn::AsyncRule async_rule(const charter::Charter& charter);

}  // namespace parley::protocol
