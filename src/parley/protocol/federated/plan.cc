#include "parley/protocol/federated/plan.h"

#include <algorithm>
#include <utility>

#include "parley/charter/available.h"
#include "parley/protocol/learner_kind.h"
#include "parley/protocol/sync_plan.h"

namespace parley::protocol {
namespace {

using charter::Charter;

/// Members are the owners, each with the key that signs its receipts.
Result<std::vector<AggregationPlan::Member>> members_of(const Charter& charter) {
  std::vector<PlannedOwner> owners(charter.owners.size());
  TRY(require_signatures(owners, charter));
  std::vector<AggregationPlan::Member> members;
  for (size_t i = 0; i < owners.size(); ++i)
    members.push_back({charter.owners[i].name, *owners[i].sign_key});
  return members;
}

Error too_few_owners(const charter::SecureAggregation& secure, size_t owners) {
  return {Code::kInvalid,
          "a sparse graph of " + std::to_string(owners) + " owners cannot stand " +
              std::to_string(secure.colluders) + " colluders and " +
              std::to_string(owners - static_cast<size_t>(secure.survivors)) + " dropouts",
          "Take fewer colluders, or more survivors.",
          {.key = "secure_aggregation.graph"}};
}

/// A member's neighbours open its secrets, so of the survivors one fewer must be enough.
Error too_high(const charter::SecureAggregation& secure) {
  return {Code::kInvalid,
          "threshold " + std::to_string(secure.threshold) + " cannot be met by " +
              std::to_string(secure.survivors) + " survivors: an owner's own share does not count",
          "Take a threshold below survivors.",
          {.key = "secure_aggregation.threshold"}};
}

/// Where owners make the steps, the learner's are whole: theta - (-1) (their mean update).
Result<learn::Schedule> schedule_of(const Charter& charter, const data::Rows* pilot,
                                    const learn::Lattice& lattice) {
  if (charter.protocol.name == charter::ProtocolName::kSync)
    return sync_schedule(charter, pilot, lattice);
  auto start = TRY(start_of(charter, pilot, lattice.dimension()));
  return learn::constant_step(static_cast<uint32_t>(charter.protocol.rounds), 1,
                              learn::Average::kNone, std::move(start));
}

double variance_of(const privacy::SharedMechanisms& mechanism) {
  return std::visit([](const auto& known) { return known.variance(); }, mechanism);
}

}  // namespace

Result<Circle> Circle::of(const Charter& charter) {
  const charter::SecureAggregation& secure = *charter.secure_aggregation;
  Circle circle;
  AggregationPlan& plan = circle.plan_;
  plan.job = charter.hash;
  plan.members = TRY(members_of(charter));
  plan.survivors = static_cast<size_t>(secure.survivors);
  plan.threshold = static_cast<size_t>(secure.threshold);
  if (secure.graph == charter::Graph::kSparse) {
    const auto degree = sparse_degree(plan.members.size(), static_cast<size_t>(secure.colluders),
                                      plan.members.size() - plan.survivors);
    if (!degree) return too_few_owners(secure, plan.members.size());
    circle.degree_ = degree->neighbours;
    plan.threshold = degree->threshold;
  } else if (plan.threshold >= plan.survivors) {
    return too_high(secure);
  }
  TRY(circle.plan(1, 1).valid());
  return circle;
}

AggregationPlan Circle::plan(uint32_t attempt, size_t words) const {
  AggregationPlan plan = plan_;
  plan.round = attempt;
  plan.words = words;
  const Hash seed = TupleBytes().add("graph").add(plan.job).add(uint64_t{attempt}).sha256();
  plan.graph = degree_ == 0 ? Graph::complete(size()) : Graph::regular(size(), degree_, seed);
  return plan;
}

Result<size_t> Circle::place(const std::string& name) const {
  for (size_t i = 0; i < plan_.members.size(); ++i)
    if (plan_.members[i].name == name) return i;
  return Error{Code::kIntegrity, "secure aggregation with someone who is not in the charter"};
}

Result<FederatedPlan> federated_plan(const Charter& charter, const data::Rows* pilot) {
  if (!charter.secure_aggregation)
    return charter::not_available("protocol.name", name_of(charter.protocol.name),
                                  "Use \"federated\", or add [secure_aggregation].");
  TRY(check_learner(charter));
  const gate::SecaggPlan shares = TRY(gate::secagg_plan(charter));
  Circle circle = TRY(Circle::of(charter));
  auto schedule = TRY(schedule_of(charter, pilot, shares.owners[0].lattice()));
  const bool own_steps = charter.protocol.name == charter::ProtocolName::kFederated;
  FederatedPlan plan{.charter = charter.hash,
                     .owners = {},
                     .circle = std::move(circle),
                     .answers = shares.owners[0].answers,
                     .unit = shares.unit,
                     .largest = shares.largest,
                     .box = charter.model.box,
                     .l2 = own_steps ? 0 : charter.model.l2,
                     .schedule = std::move(schedule)};
  for (size_t i = 0; i < charter.owners.size(); ++i)
    plan.owners.push_back({charter.owners[i].name, static_cast<uint64_t>(charter.owners[i].rows),
                           shares.weights[i], charter.owners[i].sign_key});
  if (const auto& last = shares.owners[0].evaluation)
    plan.evaluation = FederatedPlan::Evaluation{
        last->map, last->answers, variance_of(last->mechanism), shares.largest_evaluation};
  return plan;
}

}  // namespace parley::protocol
