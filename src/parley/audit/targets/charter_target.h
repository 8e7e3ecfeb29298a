// A charter's protocol as something to attack. The auditor is the learner, who may ask what it
// likes: the owner's own code, from its greeting to its ledger, answers in bytes.
//
// The privacy of an answer depends on neither how many rows an owner has nor on their columns, so
// the audited owner holds few of both: the attacker's unit, as large as the charter allows, and
// records of others. At theta = 0 the gradient of (z, y) is the opposite of that of (z, -y) for
// every loss, and z is long enough to be clipped: no records of one unit are farther apart.
#pragma once

#include <cstddef>

#include "parley/audit/targets/target.h"
#include "parley/charter/charter.h"

namespace parley::audit {

/// The claim is what the owner's ledger says was spent when the job is over, at most the charter's
/// epsilon.
/// One run gives the model as many columns as there are canaries. In SQL: the owner's records lie
/// in an SQLite file, and a statement makes the sums.
Result<Target> charter_target(const charter::Charter& charter, size_t owner, bool in_sql = false);

}  // namespace parley::audit
