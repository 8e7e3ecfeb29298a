// What both roles of training under secure aggregation know before it starts: public numbers of the
// charter. Protocol federated and a synchronous charter with [secure_aggregation] differ in what
// owners add up (plan/secagg_terms.h) and in the learner's schedule, and in nothing else.
#pragma once

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

 private:
  AggregationPlan plan_;
};

struct FederatedPlan : plan::FederatedPlan {
  AggregationGroup group;
};

/// `pilot` is as for make_learner.
Result<FederatedPlan> federated_plan(const charter::Charter& charter, const data::Rows* pilot);

}  // namespace parley::protocol
