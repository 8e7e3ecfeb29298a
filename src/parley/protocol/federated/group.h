// The public numbers of a charter that both roles of training under secure aggregation need before
// it starts. Protocol federated and a synchronous charter with [secure_aggregation] differ only in
// what owners add up (plan/secagg_terms.h) and in the learner's schedule.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/data/rows.h"
#include "parley/plan/learner/federated_plan.h"
#include "parley/protocol/job.h"
#include "parley/protocol/secagg/aggregation.h"

namespace parley::protocol {

/// Who aggregates with whom.
class AggregationGroup {
 public:
  /// Refuses a charter without a sign_key for every owner, and numbers that cannot work.
  static Result<AggregationGroup> of(const charter::Charter& charter);

  /// Of aggregation `attempt`, of so many words. A sparse graph is drawn by its members.
  AggregationPlan plan(uint32_t attempt, size_t words) const;

  const std::string& name(size_t member) const { return plan_.members[member].name; }
  size_t size() const { return plan_.members.size(); }
  size_t survivors() const { return plan_.survivors; }
  /// Of the owner of this name; kIntegrity for another.
  Result<size_t> place(const std::string& name) const;

  /// What an owner signs that has approved the charter, as in its ledger.
  Bytes approval_of(size_t member) const;
  bool has_approved(size_t member, const Signature& signature) const;
  /// Every owner's, in the charter's order. Who has not all of them takes part in nothing: owners
  /// that were never asked may not exist.
  Result<void> check_approvals(std::span<const Signature> approvals) const;

 private:
  AggregationPlan plan_;
};

struct FederatedPlan : plan::FederatedPlan {
  AggregationGroup group;
};

/// `pilot` is as for make_learner.
Result<FederatedPlan> federated_plan(const charter::Charter& charter, const data::Rows* pilot);

}  // namespace parley::protocol
