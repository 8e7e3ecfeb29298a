// A charter over columns in several places as something to attack. The auditor is all owners but
// one together: it sees every gradient that is opened, knows every record but one, and follows the
// model from round to round. All parties run the product's own code, from greetings to ledgers.
//
// The bound counts a record that is far from a model at the edge of its ball, so the audited data
// pushes the model there: many short records of one class. The attacked record then lies along the
// model, or across it.
#pragma once

#include "parley/audit/targets/target.h"
#include "parley/charter/charter.h"

namespace parley::audit {

/// The claim is what the owner's ledger says was spent, at most the charter's epsilon.
Result<Target> vertical_target(const charter::Charter& charter, size_t owner);

}  // namespace parley::audit
