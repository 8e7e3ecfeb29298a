// Rule admm of protocol sharing: ADMM without noise (learn/vertical/admm/admm.h) on the owners'
// columns, in plain doubles, past gate and ledger, and NOT PRIVATE. Whoever held the labels would
// get every record's exact score of every owner, and every owner all labels. No party is played and
// no message made: there is nothing that could be sent.
#pragma once

#include "parley/sim/columns.h"

namespace parley::paper {

/// Refused, naming the key: what other rules refuse, too, no l2, labels that are no class, and
/// owners' policies, none of which could allow it. `input` and `options` must outlive the job.
Result<sim::ColumnsJob> admm_job(const sim::SimulateInput& input,
                                 const sim::SimulateOptions& options);

}  // namespace parley::paper
