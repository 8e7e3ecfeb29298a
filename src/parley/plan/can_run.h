// Which learners may be a party of their own, asking every owner of the charter alike.
#pragma once

#include "parley/charter/available.h"
#include "parley/charter/charter.h"

namespace parley::plan {

/// A party without records, or an owner that answers itself like all others, through its gate and
/// ledger ("own_noise"). What an owner learns from the others alone, and learning without a central
/// learner, is put together from such jobs (plan/learner/jobs.h, protocol/peers/gossip.h),
/// each of which passes here.
inline Result<void> check_learner(const charter::Charter& charter) {
  const charter::Protocol& p = charter.protocol;
  const bool exact = p.owner_learner == charter::OwnerLearner::kExact;
  const std::string others =
      exact ? "Its questions would tell its exact gradients; use \"own_noise\"."
            : "The charter stands for other jobs than one central learner's.";
  if (p.copies) return charter::not_available("protocol.copies", "true", others);
  if (!p.graph.empty()) return charter::not_available("protocol.graph", "[...]", others);
  if (p.owner_learner && p.owner_learner != charter::OwnerLearner::kOwnNoise)
    return charter::not_available("protocol.owner_learner", name_of(*p.owner_learner), others);
  return {};
}

}  // namespace parley::plan
