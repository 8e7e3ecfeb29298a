// From a charter and its pilot to the learner's plan.
#pragma once

#include "parley/charter/charter.h"
#include "parley/learn/data/rows.h"
#include "parley/protocol/sync.h"

namespace parley::protocol {

/// `pilot` holds the charter's public rows; null where it has none. All that the plan contains
/// follows from public values.
Result<SyncPlan> sync_plan(const charter::Charter& charter, const learn::Rows* pilot);

}  // namespace parley::protocol
