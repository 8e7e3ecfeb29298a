#include "parley/plan/learner/federated_plan.h"

#include <utility>
#include <variant>

#include "parley/plan/can_run.h"
#include "parley/plan/learner/sync_plan.h"
#include "parley/plan/secagg_terms.h"
#include "parley/plan/sums/gram.h"
#include "parley/plan/sums/share_noise.h"

namespace parley::plan {
namespace {

using charter::Charter;

/// With local steps at the owners, the learner's step is theta + (their mean update).
Result<learn::Schedule> schedule_of(const Charter& charter, const data::Rows* pilot,
                                    const learn::Lattice& lattice) {
  if (charter.protocol.as<charter::Sync>()) return sync_schedule(charter, pilot, lattice);
  auto start = TRY(start_of(charter, pilot, lattice.dimension()));
  return learn::constant_step(static_cast<uint32_t>(charter.protocol.rounds), 1,
                              learn::Average::kNone, std::move(start));
}

/// What the learner knows of the Gram matrix; `start` is where the gradients after an alarm begin.
std::optional<FederatedPlan::Gram> gram_of(const Charter& charter, const SecaggPlan& shares,
                                           const std::vector<double>& start) {
  const SecaggTerms& terms = shares.owners[0];
  if (!terms.gram) return std::nullopt;
  const double curvature = learn::smoothness_of(charter::loss_of(charter.model));
  FederatedPlan::Gram gram{.unit = shares.gram.unit,
                           .largest = shares.gram.largest,
                           .variance = variance_of(terms.gram->mechanism),
                           .curvature = curvature,
                           .answers = terms.gram->answers};
  if (!terms.after_alarm) return gram;
  learn::Schedule schedule = learn::gram_steps(kAfterAlarmRounds, start);
  schedule.longest = longest_change(charter);
  gram.after_alarm = {shares.after_alarm.unit, shares.after_alarm.largest,
                      terms.after_alarm->answers, std::move(schedule)};
  return gram;
}

}  // namespace

Result<FederatedPlan> federated_plan(const Charter& charter, const data::Rows* pilot) {
  if (!charter.secure_aggregation)
    return charter::not_available("protocol.name", name_of(charter.protocol.name()),
                                  "Use \"federated\", or add [secure_aggregation].");
  TRY(check_learner(charter));
  const SecaggPlan shares = TRY(secagg_plan(charter));
  std::vector<PlannedOwner> owners(charter.owners.size());
  TRY(require_signatures(owners, charter));
  auto schedule = TRY(schedule_of(charter, pilot, shares.owners[0].lattice()));
  const bool steps = charter.protocol.as<charter::Sync>() && !charter.protocol.distance();
  FederatedPlan plan{.charter = charter.hash,
                     .owners = std::move(owners),
                     .answers = shares.owners[0].answers,
                     .unit = shares.unit,
                     .largest = shares.largest,
                     .box = charter.model.box,
                     .l2 = steps ? charter.model.l2 : 0,
                     .schedule = std::move(schedule)};
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    plan.owners[i].name = charter.owners[i].name;
    plan.owners[i].rows = static_cast<uint64_t>(charter.owners[i].rows);
    plan.owners[i].weight = shares.weights[i];
  }
  if (const auto& last = shares.owners[0].evaluation)
    plan.evaluation = FederatedPlan::Evaluation{
        last->map, last->answers, variance_of(last->mechanism), shares.largest_evaluation};
  plan.gram = gram_of(charter, shares, plan.schedule.start);
  if (charter.protocol.distance())
    plan.distance = FederatedPlan::Distance{variance_of(shares.owners[0].mechanism),
                                            charter.schema.bias, to_hex(charter.pilot->sha256)};
  return plan;
}

}  // namespace parley::plan
