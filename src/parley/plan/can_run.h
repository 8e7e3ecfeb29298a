// Can this charter run, and if not why: what this version cannot run soundly is refused by the key
// that says so, with what to take instead. All from the charter alone; numbers that turn out not to
// fit are refused where they are computed (terms.h, secagg_terms.h, vertical_terms.h).
#pragma once

#include "parley/charter/available.h"
#include "parley/charter/charter.h"

namespace parley::plan {

/// Can the owner at `place` run it? All that its gate will need is computed once.
Result<void> can_run(const charter::Charter& charter, size_t place);

/// Refuses a draft.
Result<void> check_complete(const charter::Charter& charter);

/// Refuses a bundle over columns of several owners.
Result<void> check_no_bundle(const charter::Charter& charter);

/// Refuses falling local steps where Theorem 4 of the paper has none.
Result<void> check_falling_steps(const charter::Charter& charter);

/// Can owners answer one by one (terms.h), in sums (secagg_terms.h), about columns
/// (vertical_terms.h)?
Result<void> check_answers(const charter::Charter& charter);
Result<void> check_sums(const charter::Charter& charter);
Result<void> check_columns(const charter::Charter& charter);

/// May its learner be a party of its own? A party without records, or an owner that answers itself
/// like all others, through its gate and ledger ("own_noise"). What an owner learns from the others
/// alone, and learning without a central learner, is put together from such jobs
/// (plan/learner/jobs.h, protocol/peers/gossip.h), each of which passes here.
Result<void> check_learner(const charter::Charter& charter);

}  // namespace parley::plan
