#include "parley/protocol/federated/group.h"

#include <algorithm>
#include <utility>

#include "parley/plan/learner/neighbours.h"

namespace parley::protocol {
namespace {

using charter::Charter;

/// Members are the owners, each with the key that signs its receipts.
Result<std::vector<AggregationPlan::Member>> members_of(const Charter& charter) {
  std::vector<PlannedOwner> owners(charter.owners.size());
  TRY(plan::require_signatures(owners, charter));
  std::vector<AggregationPlan::Member> members;
  for (size_t i = 0; i < owners.size(); ++i)
    members.push_back({charter.owners[i].name, *owners[i].sign_key});
  return members;
}

}  // namespace

Result<AggregationGroup> AggregationGroup::of(const Charter& charter) {
  const charter::SecureAggregation& secure = *charter.secure_aggregation;
  AggregationGroup group;
  AggregationPlan& plan = group.plan_;
  plan.job = charter.hash;
  plan.members = TRY(members_of(charter));
  plan.survivors = static_cast<size_t>(secure.survivors);
  const plan::Neighbours near = TRY(plan::neighbours_of(charter));
  plan.threshold = near.threshold;
  plan.consents = near.consents;
  plan.degree = near.degree;
  plan.stretch = near.stretch;
  TRY(group.plan(1, 1).valid());
  return group;
}

AggregationPlan AggregationGroup::plan(uint32_t attempt, size_t words) const {
  AggregationPlan plan = plan_;
  plan.round = attempt;
  plan.words = words;
  return plan;
}

Result<size_t> AggregationGroup::place(const std::string& name) const {
  for (size_t i = 0; i < plan_.members.size(); ++i)
    if (plan_.members[i].name == name) return i;
  return Error{Code::kIntegrity, "secure aggregation with someone who is not in the charter"};
}

Result<FederatedPlan> federated_plan(const Charter& charter, const data::Rows* pilot) {
  auto plan = TRY(plan::federated_plan(charter, pilot));
  return FederatedPlan{std::move(plan), TRY(AggregationGroup::of(charter))};
}

}  // namespace parley::protocol
