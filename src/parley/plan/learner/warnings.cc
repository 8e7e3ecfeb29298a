#include "parley/plan/learner/warnings.h"

#include "parley/learn/objective.h"
#include "parley/plan/learner/federated_plan.h"
#include "parley/plan/learner/jobs.h"
#include "parley/plan/learner/sync_plan.h"

namespace parley::plan {
namespace {

/// A direction in which public rows are nearly constant has hardly any curvature: a Newton step
/// would divide by it, and does by the floor instead.
Result<void> look_at_curvature(const charter::Charter& charter, const learn::Schedule& schedule,
                               std::vector<std::string>& found) {
  if (schedule.preconditioner.empty()) return {};
  const double floor = TRY(newton_floor(charter));
  const double longest = learn::largest_eigenvalue(schedule.preconditioner, schedule.start.size());
  if (longest * floor < 1 - 1e-6) return {};
  found.push_back(
      "The pilot's curvature is nearly singular: in some direction the noise of one Newton step "
      "would be more than a quarter of the box. Steps there are shortened to that, and little is "
      "learnt in it. Features that add up to a constant, such as all levels of a category beside a "
      "bias or beside another such category, do this: leave out a level or the bias, give a larger "
      "model.l2, or take rule = \"constant\".");
  return {};
}

Result<std::vector<std::string>> warnings_of_sums(const charter::Charter& charter,
                                                  const data::Rows* pilot) {
  const FederatedPlan plan = TRY(federated_plan(charter, pilot));
  std::vector<std::string> found;
  TRY(look_at_curvature(charter, plan.schedule, found));
  return found;
}

/// Of copies the first: they are alike.
size_t learner_place(const charter::Charter& charter) {
  for (size_t i = 0; i < charter.owners.size(); ++i)
    if (charter.owners[i].name == charter.learner.name) return i;
  return 0;
}

}  // namespace

Result<std::vector<std::string>> plan_warnings(const charter::Charter& charter,
                                               const data::Rows* pilot) {
  std::vector<std::string> found;
  if (charter.protocol.rule() != charter::Rule::kPilotNewton) return found;
  if (charter.secure_aggregation) return warnings_of_sums(charter, pilot);
  const charter::Learners& learners = charter.protocol.learners;
  const bool apart = learners.owner && learners.owner != charter::OwnerLearner::kOwnNoise;
  const charter::Charter job =
      learners.copies || apart ? job_of(charter, learner_place(charter)) : joint_job(charter);
  const SyncPlan plan = TRY(sync_plan(job, pilot));
  TRY(look_at_curvature(job, plan.schedule, found));
  return found;
}

}  // namespace parley::plan
