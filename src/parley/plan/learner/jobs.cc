#include "parley/plan/learner/jobs.h"

#include <algorithm>
#include <optional>

#include "parley/charter/available.h"

namespace parley::plan {
namespace {

using charter::Charter, charter::OwnerLearner;

std::optional<size_t> place_of(const Charter& charter, const std::string& name) {
  for (size_t i = 0; i < charter.owners.size(); ++i)
    if (charter.owners[i].name == name) return i;
  return std::nullopt;
}

/// Does its one learner leave its own rows out of the job?
bool learns_apart(const Charter& charter) {
  return charter.learns_from_others(charter.learner.name);
}

}  // namespace

Charter job_of(const Charter& charter, size_t learner) {
  Charter job = charter;
  const OwnerLearner how = charter.protocol.learners.owner.value_or(OwnerLearner::kOwnNoise);
  job.learner.name = charter.owners.at(learner).name;
  if (charter.protocol.learners.copies) job.learner.address = charter.owners[learner].address;
  if (charter.protocol.learners.copies && how != OwnerLearner::kStatistics)
    job.hash = TupleBytes().add(charter.hash).add(job.learner.name).sha256();
  job.privacy.overlap *= charter.jobs();
  job.protocol.learners.copies = false;
  job.protocol.learners.owner.reset();
  if (how != OwnerLearner::kOwnNoise)
    job.owners.erase(job.owners.begin() + static_cast<std::ptrdiff_t>(learner));
  if (charter.protocol.as<charter::Sync>())
    job.network.quorum = static_cast<int64_t>(job.owners.size());
  return job;
}

Result<void> check_everybody(const Charter& charter) {
  if (!charter.protocol.as<charter::Sync>() ||
      charter.network.quorum == static_cast<int64_t>(charter.owners.size()))
    return {};
  return charter::not_available("network.quorum", std::to_string(charter.network.quorum),
                                "If owners learn, all must answer: leave the key out.");
}

Charter joint_job(const Charter& charter) {
  Charter job = charter;
  job.protocol.learners.graph.clear();
  return job;
}

std::vector<size_t> neighbours_of(const Charter& charter, size_t owner) {
  const std::string& us = charter.owners.at(owner).name;
  std::vector<size_t> result;
  for (size_t i = 0; i < charter.owners.size(); ++i)
    for (const auto& [a, b] : charter.protocol.learners.graph)
      if ((a == us && b == charter.owners[i].name) || (b == us && a == charter.owners[i].name))
        result.push_back(i);
  return result;
}

Result<Charter> learners_job(const Charter& charter, const std::string& learner) {
  TRY(check_protects(charter));
  if (charter.central() && !learner.empty() && learner != charter.learner.name)
    return Error{Code::kInvalid,
                 learner + " is not the learner of this charter, " + charter.learner.name + " is",
                 "Leave the name out."};
  if (charter.central() && !learns_apart(charter)) return charter;
  TRY(check_everybody(charter));
  if (!charter.protocol.learners.graph.empty()) return joint_job(charter);
  const auto place = place_of(charter, charter.central() ? charter.learner.name : learner);
  if (place) return job_of(charter, *place);
  return Error{Code::kInvalid,
               learner.empty() ? "every owner learns for itself: whose copy is meant?"
                               : learner + " is no owner of this charter",
               "Name one of its owners, for example --as " + charter.owners.front().name + "."};
}

Result<std::vector<Charter>> jobs_asking(const Charter& charter, const std::string& owner) {
  std::vector<Charter> jobs;
  if (charter.central() || !charter.protocol.learners.graph.empty()) {
    jobs.push_back(TRY(learners_job(charter, "")));
  } else {
    TRY(check_everybody(charter));
    for (size_t i = 0; i < charter.owners.size(); ++i) jobs.push_back(job_of(charter, i));
  }
  std::erase_if(jobs, [&](const Charter& job) { return !place_of(job, owner); });
  return jobs;
}

}  // namespace parley::plan
