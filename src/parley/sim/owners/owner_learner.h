// Owners as learners, in one process (theory (D12)): one that learns from the others' answers (A,
// C), or every owner for itself (copies, with any variant). Everything that leaves an owner passes
// its gate and is in its ledger. A model that an owner makes from its exact rows is evaluated here,
// as a simulation may do, and not written to any file.
#pragma once

#include "parley/sim/engine/event_queue.h"
#include "parley/sim/outcome.h"

namespace parley::sim {

/// Is it for this file? An owner that learns with its own noise is asked like all others, and needs
/// nothing but the ordinary job.
bool learns_apart(const charter::Charter& charter);

struct OwnerLearnerRun {
  struct Learner {
    size_t owner = 0;
    std::vector<double> shared{};  // the model of its job: released answers only
    std::vector<double> own{};     // what it comes to: tuned, or the same
    std::vector<double> by_round{};
  };
  std::vector<Learner> learners{};
  bool published = false;                         // `own` is noisy and paid for
  std::optional<learn::Evaluation> evaluation{};  // of the first learner's job
  std::vector<protocol::JobSpent> spent{};        // by the ledgers, all jobs together
  std::vector<uint32_t> answers{};                // evaluations not counted
  std::vector<double> weights{};                  // mean over the jobs
  uint64_t bytes_up = 0, bytes_down = 0;
};

struct OwnerLearnerSetting {
  const SimulateInput& input;
  const SimulateOptions& options;
  uint64_t run = 0;
  Faults faults{};
  /// The fitness of a shared model after a round.
  std::function<double(std::span<const double>)> measure = [](std::span<const double>) {
    return 0.0;
  };
};

Result<OwnerLearnerRun> run_owner_learner(const OwnerLearnerSetting& setting);

/// A run of a simulation without faults.
Result<RunOutcome> simulate_owner_learner(const SimulateInput& input,
                                          const SimulateOptions& options,
                                          const Reference& reference, uint64_t run);

}  // namespace parley::sim
