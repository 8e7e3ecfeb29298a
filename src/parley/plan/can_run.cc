#include "parley/plan/can_run.h"

#include "parley/base/math/number.h"
#include "parley/plan/learner/neighbours.h"
#include "parley/plan/secagg_terms.h"
#include "parley/plan/sensitivity.h"
#include "parley/plan/sums/gram.h"
#include "parley/plan/terms.h"
#include "parley/plan/vertical_terms.h"

namespace parley::plan {
namespace {

using charter::Charter, charter::not_available;

Error refused(const std::string& key, const std::string& what, const std::string& hint) {
  return {Code::kInvalid, what, hint, {.key = key}};
}

Result<void> check_sound(const Charter& charter) {
  const charter::Calibration calibration = charter.privacy.calibration;
  if (calibration == charter::Calibration::kSound) return {};
  return not_available("privacy.calibration", name_of(calibration), "Use \"sound\".");
}

Result<void> check_target(const data::Target& target) {
  const double largest = label_bound(target);
  if (largest <= 1) return {};
  return refused(
      "target.bounds",
      "allow labels up to " + shortest(largest) + ", under sharing they must lie in -1 .. 1",
      "Give target.center and target.scale that bring the bounds there.");
}

Result<void> can_release(const Charter& charter, size_t place) {
  if (charter.secure_aggregation)
    TRY(secagg_plan(charter));
  else
    TRY(terms_for(charter, place));
  TRY(gram_notice(charter));  // Refuses a Gram matrix that would be noise only.
  return {};
}

}  // namespace

Result<void> can_run(const Charter& charter, size_t place) {
  if (charter.columns_apart())
    TRY(vertical_terms(charter));
  else
    TRY(can_release(charter, place));
  return {};
}

Result<void> check_complete(const Charter& charter) {
  if (charter.complete()) return {};
  const std::string& key = charter.undecided.front();
  return refused(key, "the charter is a draft: " + key + " is not decided",
                 "Only a complete charter trains.");
}

Result<void> check_no_bundle(const Charter& charter) {
  if (!charter.preprocess) return {};
  return not_available("preprocess.bundle", charter.preprocess->bundle,
                       "Leave [preprocess] out: a bundle mixes columns of several owners.");
}

Result<void> check_falling_steps(const Charter& charter) {
  const auto* federated = charter.protocol.as<charter::Federated>();
  if (federated == nullptr || federated->schedule != charter::LocalSteps::kTheorem4) return {};
  if (!(charter.model.l2 > 0))
    return refused("protocol.schedule", "schedule = \"theorem4\" needs model.l2 above 0",
                   "Give model.l2, or take schedule = \"constant\".");
  if (charter.model.loss == charter::Loss::kHinge)
    return refused("protocol.schedule",
                   "schedule = \"theorem4\" needs a smooth loss, and hinge is not",
                   "Take schedule = \"constant\".");
  return {};
}

Result<void> check_answers(const Charter& charter) {
  TRY(check_complete(charter));
  if (!charter.protocol.as<charter::Sync>() && !charter.protocol.as<charter::Async>())
    return not_available("protocol.name", name_of(charter.protocol.name()),
                         "Here use \"sync\" or \"async\".");
  if (charter.secure_aggregation)  // Its owners answer in sums only.
    return refused("secure_aggregation", "[secure_aggregation] is not available here",
                   "Leave the table out.");
  TRY(check_sound(charter));
  if (charter.privacy.mechanism == charter::MechanismName::kSkellam)
    return not_available("privacy.mechanism", name_of(charter.privacy.mechanism),
                         "Use \"laplace\" or \"gaussian\".");
  return {};
}

Result<void> check_sums(const Charter& charter) {
  TRY(check_complete(charter));
  TRY(check_sound(charter));
  const double evaluate = charter.privacy.evaluate;
  if (evaluate > 0 && !charter.protocol.by_record())
    return not_available("privacy.evaluate", shortest(evaluate),
                         "Where whole owners are protected take evaluate = 0.0.");
  if (charter.protocol.statistics())
    return not_available("protocol.rule", "statistics",
                         "Under secure aggregation take a rule that asks for gradients.");
  if (charter.owners.size() > 2) TRY(neighbours_of(charter));  // Fewer are refused by name.
  return check_falling_steps(charter);
}

Result<void> check_columns(const Charter& charter) {
  TRY(check_complete(charter));
  if (charter.owners.size() < 2)
    return refused("owner", "sharing needs two owners at least", "Add owners.");
  TRY(check_no_bundle(charter));
  if (charter.privacy.unit != "record" || charter.privacy.unit_records != 1)
    return not_available("privacy.unit", charter.privacy.unit,
                         "Use unit = \"record\": a record is what owners align.");
  const auto* vertical = charter.protocol.as<charter::Vertical>();
  if (vertical && vertical->average == charter::Average::kPaper)
    return not_available("protocol.average", "paper", "Use \"tail\" or \"none\".");
  if (vertical && charter.model.box < vertical->model_ball)
    return refused("model.box", "is smaller than protocol.model_ball, which bounds the model",
                   "Take a box of at least model_ball.");
  return check_target(charter.schema.target);
}

Result<void> check_learner(const Charter& charter) {
  const charter::Learners& learners = charter.protocol.learners;
  const bool exact = learners.owner == charter::OwnerLearner::kExact;
  const std::string others =
      exact ? "Its questions would tell its exact gradients; use \"own_noise\"."
            : "This charter has no single central learner.";
  if (learners.copies) return not_available("protocol.copies", "true", others);
  if (!learners.graph.empty()) return not_available("protocol.graph", "[...]", others);
  if (learners.owner && learners.owner != charter::OwnerLearner::kOwnNoise)
    return not_available("protocol.owner_learner", name_of(*learners.owner), others);
  return {};
}

}  // namespace parley::plan
