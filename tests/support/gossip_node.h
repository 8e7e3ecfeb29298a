// Owners of the tiny job as neighbours that learn without a learner.
#pragma once

#include <memory>
#include <optional>

#include "parley/protocol/peers/gossip.h"
#include "support/tiny_job.h"

namespace parley::test {

/// A process of the first or second owner, over its ledger. Without a key it does not sign.
inline std::unique_ptr<protocol::GossipNode> gossip_node(const plan::SyncPlan& plan, size_t self,
                                                         TestOwner& owner,
                                                         std::optional<SigningKey> key) {
  plan::Terms terms{
      .charter = plan.charter,
      .rows = owner.rows->size(),
      .answers = kAnswers,
      .box = kBox,
      .unit_records = 1,
      .loss = learn::Squared{},
      .lattice = lattice(),
      .mechanism = *privacy::Laplace::calibrate(plan::sensitivity<L1>(lattice(), 1), kAnswers,
                                                *privacy::Epsilon::make(1e4))};
  return std::make_unique<protocol::GossipNode>(
      plan, protocol::GossipNode::Place{self, {1 - self}},
      *gate::Gate::open(gate::Records(owner.rows), terms, owner.ledger, owner.dataset,
                        *owner.entropy, 1),
      std::move(key));
}

}  // namespace parley::test
