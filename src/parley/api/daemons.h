// The daemons behind run_owner and run_learner, stopped by a flag that a signal handler may set.
#pragma once

#include <atomic>
#include <vector>

#include "parley/learner.h"
#include "parley/owner.h"

namespace parley::api {

Result<std::vector<OwnerJob>> run_owner(const Policy& policy, const OwnerOptions& options,
                                        const std::atomic<bool>& stop);
Result<LearnerResult> run_learner(const Charter& charter, const LearnerOptions& options,
                                  const std::atomic<bool>& stop);

}  // namespace parley::api
