#include "parley/protocol/sync_plan.h"

#include <string>
#include <utility>

#include "parley/charter/available.h"
#include "parley/learn/fitness.h"
#include "parley/learn/kernel/lattice.h"
#include "parley/learn/objective.h"

namespace parley::protocol {
namespace {

using charter::Charter, charter::not_available;

/// The optimum of the public rows: a start that costs nothing.
std::vector<double> pilot_optimum(const Charter& charter, const learn::Rows& pilot) {
  learn::Fitness fitness(charter::loss_of(charter.model), pilot.columns(), charter.model.l2);
  fitness.add(pilot);
  return fitness.minimum(charter.model.box).theta;
}

Result<learn::Schedule> schedule_of(const Charter& charter, const learn::Rows* pilot,
                                    const learn::Lattice& lattice) {
  const charter::Protocol& protocol = charter.protocol;
  const auto answers = static_cast<uint32_t>(charter.answers());
  const bool from_pilot = protocol.start == charter::Start::kPilot;
  const bool newton = protocol.rule == charter::Rule::kPilotNewton;
  if ((from_pilot || newton) && pilot == nullptr)
    return Error{Code::kInvalid,
                 "the rule needs public rows, and the charter has no [pilot]",
                 "Add a [pilot], or use rule = \"algorithm2\" with start = \"zero\".",
                 {.key = "pilot"}};
  const std::vector<double> start =
      from_pilot ? pilot_optimum(charter, *pilot) : std::vector<double>(lattice.dimension());
  if (protocol.rule == charter::Rule::kAlgorithm1)
    return learn::algorithm1(answers, protocol.step, protocol.average, start);
  if (protocol.rule == charter::Rule::kAlgorithm2)
    return learn::algorithm2(answers, protocol.step, protocol.average, start);
  if (!newton)
    return not_available("protocol.rule", name_of(protocol.rule),
                         "Use \"algorithm1\", \"algorithm2\" or \"pilot_newton\".");
  const auto hessian =
      learn::clipped_hessian(charter::loss_of(charter.model), *pilot, start, learn::ClipIn::kL1,
                             lattice.shortened<L1>(), charter.model.l2);
  auto curvature = learn::inverse(hessian, lattice.dimension());
  if (!curvature)
    return Error{Code::kInvalid,
                 "the pilot's Hessian is singular: its features are constant, repeated or clipped "
                 "away",
                 "Give a larger model.l2 or max_grad_norm, or leave out redundant columns.",
                 {.key = "protocol.rule"}};
  return learn::pilot_newton(answers, protocol.step, protocol.average, start,
                             *std::move(curvature));
}

}  // namespace

Result<SyncPlan> sync_plan(const Charter& charter, const learn::Rows* pilot) {
  if (charter.protocol.name != charter::ProtocolName::kSync)
    return not_available("protocol.name", name_of(charter.protocol.name), "Use \"sync\".");
  if (charter.protocol.weights != charter::Weights::kRows)
    return not_available("protocol.weights", name_of(charter.protocol.weights), "Use \"rows\".");
  if (charter.network.quorum != static_cast<int64_t>(charter.owners.size()))
    return not_available("network.quorum", std::to_string(charter.network.quorum),
                         "Every owner must answer every round: leave the key out.");
  if (charter.protocol.owner_learner)
    return not_available("protocol.owner_learner", name_of(*charter.protocol.owner_learner),
                         "Name a learner that is not an owner.");
  if (charter.secure_aggregation)
    return Error{Code::kInvalid,
                 "[secure_aggregation] is not available in this version",
                 "Leave the table out.",
                 {.key = "secure_aggregation"}};
  const auto lattice = TRY(learn::Lattice::make(charter.privacy.max_grad_norm,
                                                static_cast<int>(charter.privacy.grid_bits),
                                                charter.schema.features().size()));
  learn::Schedule schedule = TRY(schedule_of(charter, pilot, lattice));
  schedule.momentum = charter.protocol.momentum;
  SyncPlan plan{.charter = charter.hash,
                .owners = {},
                .gamma = lattice.gamma(),
                .box = charter.model.box,
                .l2 = charter.model.l2,
                .schedule = std::move(schedule)};
  double rows = 0;
  for (const charter::Owner& owner : charter.owners) rows += static_cast<double>(owner.rows);
  for (const charter::Owner& owner : charter.owners)
    plan.owners.push_back(
        {owner.name, static_cast<uint64_t>(owner.rows), static_cast<double>(owner.rows) / rows});
  return plan;
}

Result<void> require_signatures(SyncPlan& plan, const Charter& charter) {
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    const charter::Owner& owner = charter.owners[i];
    if (!owner.sign_key)
      return Error{Code::kInvalid,
                   owner.name + " has no sign_key, so nobody could check its receipts",
                   "Add the line that `parley join` printed for it.",
                   {.key = "owner[" + std::to_string(i) + "].sign_key"}};
    plan.owners[i].sign_key = owner.sign_key;
  }
  return {};
}

}  // namespace parley::protocol
