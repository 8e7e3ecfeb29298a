// Where owners learn, a charter stands for one job or for several, each of the kind that a central
// learner runs: so everything that leaves an owner is an answer it was asked for under the terms of
// that job, paid through its gate and ledger.
#pragma once

#include <string>
#include <vector>

#include "parley/charter/charter.h"

namespace parley::plan {

/// The job whose learner is owner `learner` (theory (D12)). It asks the other owners only;
/// under own_noise itself as well. With copies it is one of several jobs, with a name of its own,
/// and every owner it asks has split its budget among them: epsilon, or rho under Gaussian noise,
/// as with overlapping data sets. Statistics are the same for every learner, hence one job.
charter::Charter job_of(const charter::Charter& charter, size_t learner);

/// None of these jobs can go on without an owner: a quorum below all is refused by name.
Result<void> check_everybody(const charter::Charter& charter);

/// With a graph: the one job of all, as if there were a central learner.
charter::Charter joint_job(const charter::Charter& charter);

/// Whom an owner is joined with by the graph, by their places in the charter.
std::vector<size_t> neighbours_of(const charter::Charter& charter, size_t owner);

/// The job of one learner, as it is run and verified. With copies `learner` says whose; else there
/// is one only, and it may be empty.
Result<charter::Charter> learners_job(const charter::Charter& charter, const std::string& learner);

/// The jobs in which a learner asks this owner, in the order of their learners. None for an owner
/// that only learns.
Result<std::vector<charter::Charter>> jobs_asking(const charter::Charter& charter,
                                                  const std::string& owner);

}  // namespace parley::plan
