#include "parley/protocol/sync_plan.h"

#include <string>
#include <utility>

#include "parley/charter/available.h"
#include "parley/learn/kernel/lattice.h"
#include "parley/protocol/owner_weights.h"
#include "parley/protocol/public_rows.h"

namespace parley::protocol {
namespace {

using charter::Charter, charter::not_available;

Result<std::vector<double>> start_of(const Charter& charter, const learn::Rows* pilot,
                                     size_t dimension) {
  if (charter.protocol.start == charter::Start::kZero) return std::vector<double>(dimension);
  if (pilot == nullptr)
    return Error{Code::kInvalid,
                 "the start is the optimum of public rows, and the charter has no [pilot]",
                 "Add a [pilot], or use start = \"zero\".",
                 {.key = "pilot"}};
  return pilot_optimum(charter, *pilot);
}

/// The inverse Hessian of the pilot's clipped loss: clipped in the mechanism's norm, as owners do.
Result<std::vector<double>> curvature_at(const Charter& charter, const learn::Rows* pilot,
                                         std::span<const double> theta,
                                         const learn::Lattice& lattice) {
  if (pilot == nullptr)
    return Error{Code::kInvalid,
                 "the rule needs public rows, and the charter has no [pilot]",
                 "Add a [pilot], or use rule = \"constant\" with start = \"zero\".",
                 {.key = "pilot"}};
  const auto [norm, limit] = clip_of(charter, lattice);
  const auto hessian = learn::clipped_hessian(charter::loss_of(charter.model), *pilot, theta, norm,
                                              limit, charter.model.l2);
  auto curvature = learn::inverse(hessian, lattice.dimension());
  if (!curvature)
    return Error{Code::kInvalid,
                 "the pilot's Hessian is singular: its features are constant, repeated or clipped "
                 "away",
                 "Give a larger model.l2 or max_grad_norm, or leave out redundant columns.",
                 {.key = "protocol.rule"}};
  return *std::move(curvature);
}

Result<learn::Schedule> schedule_of(const Charter& charter, const learn::Rows* pilot,
                                    const learn::Lattice& lattice) {
  const charter::Protocol& p = charter.protocol;
  const auto answers = static_cast<uint32_t>(charter.answers());
  const auto start = TRY(start_of(charter, pilot, lattice.dimension()));
  switch (p.rule) {
    case charter::Rule::kAlgorithm1:
      return learn::algorithm1(answers, p.step, p.average, start);
    case charter::Rule::kAlgorithm2:
      return learn::algorithm2(answers, p.step, p.average, start);
    case charter::Rule::kConstant:
      return learn::constant_step(answers, p.step, p.average, start);
    case charter::Rule::kStronglyConvex:
      return learn::strongly_convex(answers, p.step, charter.model.l2, p.average, start);
    case charter::Rule::kPilotNewton:
      return learn::pilot_newton(answers, p.step, p.average, start,
                                 TRY(curvature_at(charter, pilot, start, lattice)));
    default:
      return not_available("protocol.rule", name_of(p.rule), "Use \"pilot_newton\".");
  }
}

}  // namespace

Result<SyncPlan> sync_plan(const Charter& charter, const learn::Rows* pilot) {
  if (charter.protocol.name != charter::ProtocolName::kSync)
    return not_available("protocol.name", name_of(charter.protocol.name), "Use \"sync\".");
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
  const auto weights = TRY(owner_weights(charter, schedule, pilot, lattice));
  SyncPlan plan{.charter = charter.hash,
                .owners = {},
                .gamma = lattice.gamma(),
                .box = charter.model.box,
                .l2 = charter.model.l2,
                .schedule = std::move(schedule)};
  for (size_t i = 0; i < charter.owners.size(); ++i)
    plan.owners.push_back(
        {charter.owners[i].name, static_cast<uint64_t>(charter.owners[i].rows), weights[i]});
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
