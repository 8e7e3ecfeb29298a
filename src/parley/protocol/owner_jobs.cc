#include "parley/protocol/owner_jobs.h"

#include <string>

#include "parley/charter/available.h"

namespace parley::protocol {

using charter::Charter, charter::OwnerLearner;

Charter job_of(const Charter& charter, size_t learner) {
  Charter job = charter;
  const OwnerLearner how = charter.protocol.owner_learner.value_or(OwnerLearner::kOwnNoise);
  job.learner.name = charter.owners.at(learner).name;
  if (charter.protocol.copies && how != OwnerLearner::kStatistics)
    job.hash = TupleBytes().add(charter.hash).add(job.learner.name).sha256();
  job.privacy.overlap *= charter.jobs();
  job.protocol.copies = false;
  job.protocol.owner_learner.reset();
  if (how != OwnerLearner::kOwnNoise)
    job.owners.erase(job.owners.begin() + static_cast<std::ptrdiff_t>(learner));
  job.network.quorum = static_cast<int64_t>(job.owners.size());
  return job;
}

Result<void> check_everybody(const Charter& charter) {
  if (charter.network.quorum == static_cast<int64_t>(charter.owners.size())) return {};
  return charter::not_available("network.quorum", std::to_string(charter.network.quorum),
                                "Where owners learn all must answer: leave the key out.");
}

Charter joint_job(const Charter& charter) {
  Charter job = charter;
  job.protocol.graph.clear();
  return job;
}

}  // namespace parley::protocol
