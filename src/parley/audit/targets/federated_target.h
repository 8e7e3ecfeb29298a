// A charter under secure aggregation as something to attack. The auditor is the learner together
// with `colluders` owners: it asks what it likes as often as it may, with the fewest survivors, and
// sees every sum that is opened. All parties run the product's own code, from greetings and keys to
// ledgers; the noise of colluders is the same in every play, so that it hides nothing.
//
// The bound counts a record whose gradient is as long as it can be and stays so while the owner
// takes its local steps. So the auditor asks far out, where the attacked record is on the losing
// side of a loss that has become straight, and its other half points one way or the other.
#pragma once

#include "parley/audit/targets/target.h"
#include "parley/charter/charter.h"

namespace parley::audit {

/// The claim is what the owner's ledger says was spent, at most the charter's epsilon.
Result<Target> federated_target(const charter::Charter& charter, size_t owner);

}  // namespace parley::audit
