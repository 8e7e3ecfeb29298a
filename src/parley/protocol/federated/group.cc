#include "parley/protocol/federated/group.h"

#include <algorithm>
#include <utility>

#include "parley/ledger/events.h"
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

/// All approvals come in one message.
constexpr size_t kOwnersMax = 50'000;

}  // namespace

Result<AggregationGroup> AggregationGroup::of(const Charter& charter) {
  const charter::SecureAggregation& secure = *charter.secure_aggregation;
  if (charter.owners.size() > kOwnersMax)
    return Error{Code::kInvalid,
                 std::to_string(charter.owners.size()) +
                     " owners in one secure sum, and all their approvals do not fit in a message",
                 "Secure sums have at most " + std::to_string(kOwnersMax) + " owners.",
                 {.key = "owner"}};
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

Bytes AggregationGroup::approval_of(size_t member) const {
  return ledger::decision_bytes(name(member), plan_.job, ledger::Decision::What::kApproved);
}

bool AggregationGroup::has_approved(size_t member, const Signature& signature) const {
  return is_signed(plan_.members[member].key, approval_of(member), signature);
}

Result<void> AggregationGroup::check_approvals(std::span<const Signature> approvals) const {
  if (approvals.size() != size())
    return Error{Code::kPolicy,
                 "the learner does not show that every owner has approved the charter",
                 "It must run this version, and wait for all of them."};
  TupleBytes list;
  list.add(plan_.job);
  for (size_t i = 0; i < size(); ++i)
    list.add(plan_.members[i].key.bytes).add(ByteView(approvals[i]));
  // Simulated owners are all shown the same list: one of them looks at it.
  static thread_local std::optional<Hash> found_good;
  const Hash digest = list.sha256();
  if (found_good == digest) return {};
  for (size_t i = 0; i < size(); ++i)
    if (!has_approved(i, approvals[i]))
      return Error{Code::kIntegrity,
                   name(i) + " has not signed this charter, and the learner says so",
                   "Do not answer it, and ask who runs it."};
  found_good = digest;
  return {};
}

Result<FederatedPlan> federated_plan(const Charter& charter, const data::Rows* pilot) {
  auto plan = TRY(plan::federated_plan(charter, pilot));
  return FederatedPlan{std::move(plan), TRY(AggregationGroup::of(charter))};
}

}  // namespace parley::protocol
