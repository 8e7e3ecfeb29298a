#include "parley/protocol/federated/group.h"

#include <algorithm>
#include <utility>

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
  const plan::Degree degree = TRY(plan::degree_of(charter));
  group.degree_ = degree.neighbours;
  plan.threshold = degree.threshold;
  TRY(group.plan(1, 1).valid());
  return group;
}

AggregationPlan AggregationGroup::plan(uint32_t attempt, size_t words) const {
  AggregationPlan plan = plan_;
  plan.round = attempt;
  plan.words = words;
  const Hash seed = TupleBytes().add("graph").add(plan.job).add(uint64_t{attempt}).sha256();
  plan.graph = degree_ == 0 ? Graph::complete(size()) : Graph::regular(size(), degree_, seed);
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
