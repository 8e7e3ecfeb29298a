// A job without a central learner in one process: owners joined by the charter's graph pass
// released answers on (protocol/peers/gossip.h). Time is a number; faults replay from the seed.
#pragma once

#include <functional>
#include <vector>

#include "parley/protocol/peers/gossip.h"
#include "parley/sim/engine/event_queue.h"
#include "parley/sim/outcome.h"

namespace parley::sim {

struct GossipSetting {
  const SimulateInput& input;
  const SimulateOptions& options;
  plan::SyncPlan plan;
  uint64_t run = 0;
  Faults faults{};  // vanish is not among them: without an owner nobody can go on
  /// After every round of the first owner.
  std::function<void(const protocol::SyncLearner&)> after = [](const protocol::SyncLearner&) {};
};

struct GossipRun {
  std::vector<std::vector<double>> models{};  // one of each owner; they are the same
  std::optional<learn::Evaluation> evaluation{};
  std::vector<protocol::JobSpent> spent{};  // as everybody was told
  std::vector<double> ledgers{};            // what the ledgers say
  std::vector<uint32_t> answers{};          // in the ledgers
  uint64_t bytes = 0;
  uint64_t crashes = 0;
};

/// Until every owner has the model. An owner's refusal reaches all, and is the error.
Result<GossipRun> run_gossip(const GossipSetting& setting);

/// A run of a simulation without faults.
Result<RunOutcome> simulate_gossip(const SimulateInput& input, const SimulateOptions& options,
                                   const Reference& reference, uint64_t run);

}  // namespace parley::sim
