// From a charter with [secure_aggregation] to what both roles know before it starts. Protocol
// federated and a synchronous charter differ in what owners add up (plan/secagg_terms.h) and in the
// learner's schedule, and in nothing else.
#pragma once

#include <optional>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/data/rows.h"
#include "parley/learn/kernel/evaluation_map.h"
#include "parley/learn/schedule/schedule.h"
#include "parley/plan/learner/weights.h"

namespace parley::plan {

struct FederatedPlan {
  struct Evaluation {
    learn::EvaluationMap map;
    uint32_t answers = 0;  // aggregations that may be begun for it
    double variance = 0;   // of an owner's share of the noise
    double largest = 0;    // of a coordinate of the sum
  };
  /// What owners give under rule "distance", two lengths: their weights are v_i / V.
  struct Distance {
    double variance = 0;     // of an owner's share of the noise, in either
    bool intercept = false;  // The second is that of the intercept, not noise alone.
    std::string pilot{};     // SHA-256 of the public rows
  };
  /// The Gram matrix: what owners add up first, under rule gram, or after an alarm.
  struct Gram {
    double unit = 0;       // times a sum of all owners: Z'Z/N, as statistics_map.h has it
    double largest = 0;    // of a coordinate of the sum
    double variance = 0;   // of an owner's share of the noise
    double curvature = 0;  // of the loss, at most: 1/4 or 2
    uint32_t answers = 0;  // of one owner
    /// What follows an alarm: gradients, from the start again.
    struct After {
      double unit = 0, largest = 0;
      uint32_t answers = 0;
      learn::Schedule schedule;
    };
    std::optional<After> after_alarm{};
  };
  Hash charter{};
  std::vector<PlannedOwner> owners;
  uint32_t answers = 0;  // of one owner, repeated aggregations among them
  double unit = 0;       // times a sum of all owners: the gradient of the schedule
  double largest = 0;    // of a coordinate of the sum
  double box = 0;
  double l2 = 0;  // the part that the learner adds
  learn::Schedule schedule;
  std::optional<Evaluation> evaluation{};  // after the last round
  std::optional<Distance> distance{};      // in place of gradients; no model is trained
  std::optional<Gram> gram{};
};

/// `pilot` holds the charter's public rows; null where it has none. Refuses a charter without a
/// sign_key for every owner.
Result<FederatedPlan> federated_plan(const charter::Charter& charter, const data::Rows* pilot);

}  // namespace parley::plan
