#include "parley/plan/learner/warnings.h"

#include "parley/learn/objective.h"
#include "parley/learn/pilot/wrong_pilot.h"
#include "parley/plan/learner/federated_plan.h"
#include "parley/plan/learner/jobs.h"
#include "parley/plan/learner/sync_plan.h"
#include "parley/plan/secagg_terms.h"
#include "parley/plan/sums/gram.h"
#include "parley/plan/terms.h"

namespace parley::plan {
namespace {

/// Is the Hessian nearly singular? In a direction in which public rows are nearly constant, a
/// Newton step divides by the floor instead of the curvature.
Result<bool> is_nearly_singular(const charter::Charter& charter, const NewtonHessian& hessian) {
  const size_t kept = hessian.columns.size();
  const auto inverse = learn::inverse(hessian.matrix, kept);
  const double noise = charter.protocol.step * TRY(mean_deviation(charter));
  return !inverse || learn::largest_eigenvalue(*inverse, kept) * noise > charter.model.box / 4;
}

Result<void> look_at_curvature(const charter::Charter& charter, const data::Rows* pilot,
                               const learn::Schedule& schedule, const learn::Lattice& lattice,
                               std::vector<std::string>& found) {
  const NewtonHessian hessian = TRY(newton_hessian(charter, pilot, schedule.start, lattice));
  if (TRY(is_nearly_singular(charter, hessian)))
    found.push_back(
        "The pilot's curvature is nearly singular: in some direction the noise of one Newton step "
        "would be more than a quarter of the box. Steps there are shortened, and little is "
        "learnt in it. Features that add up to a constant, such as all levels of a category beside "
        "a bias or beside another such category, do this: leave out a level or the bias, give a "
        "larger model.l2, or take rule = \"constant\".");
  const auto thin = learn::thin_columns(*pilot);
  if (!thin.empty())
    found.push_back("Fewer than " + std::to_string(learn::kThin) +
                    " pilot rows tell anything about " +
                    learn::names_of(thin, charter.schema.features()) +
                    ". Newton steps leave these columns out, and nothing is learnt about them. "
                    "Take public rows that have them, merge rare levels, or leave the columns "
                    "out.");
  return {};
}

Result<std::vector<std::string>> warnings_of_sums(const charter::Charter& charter,
                                                  const data::Rows* pilot) {
  const FederatedPlan plan = TRY(federated_plan(charter, pilot));
  std::vector<std::string> found;
  const SecaggPlan shares = TRY(secagg_plan(charter));
  TRY(look_at_curvature(charter, pilot, plan.schedule, shares.owners[0].lattice(), found));
  return found;
}

/// The place of the owner that learns; with copies the first, since they are alike.
size_t learner_place(const charter::Charter& charter) {
  for (size_t i = 0; i < charter.owners.size(); ++i)
    if (charter.owners[i].name == charter.learner.name) return i;
  return 0;
}

}  // namespace

Result<std::vector<std::string>> plan_warnings(const charter::Charter& charter,
                                               const data::Rows* pilot) {
  std::vector<std::string> found;
  if (charter.protocol.rule() == charter::Rule::kGram &&
      gram_noise(TRY(gram_job(charter))).floor > kGramWarned)
    found.push_back(*TRY(gram_notice(charter)) +
                    " Until then take rounds = 5 and model.l2 = 0.001.");
  if (charter.protocol.rule() != charter::Rule::kPilotNewton) return found;
  if (charter.secure_aggregation) return warnings_of_sums(charter, pilot);
  const charter::Learners& learners = charter.protocol.learners;
  const bool apart = learners.owner && learners.owner != charter::OwnerLearner::kOwnNoise;
  const charter::Charter job =
      learners.copies || apart ? job_of(charter, learner_place(charter)) : joint_job(charter);
  const SyncPlan plan = TRY(sync_plan(job, pilot));
  const Terms terms = TRY(terms_for(job, 0));
  TRY(look_at_curvature(job, pilot, plan.schedule, terms.lattice, found));
  return found;
}

}  // namespace parley::plan
