// Simulates a job with a learner in one process, for any protocol: clocks tick, messages are
// delivered, streams break, owners and the learner crash and come back. State machines and bytes
// are those of a network, and every run, faults included, replays from its seed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "parley/base/crypto/shamir.h"
#include "parley/protocol/learner.h"
#include "parley/sim/engine/event_queue.h"
#include "parley/sim/simulate.h"

namespace parley::sim {

class Party;

struct JobRun {
  struct Owner {
    uint32_t taken = 0;          // answers that the learner took
    uint32_t answered = 0;       // answers in its ledger
    protocol::JobSpent spent{};  // by its ledger
    double weight = 0;           // of its answers in the learner's mean
  };
  protocol::Trained trained{};
  std::vector<Owner> owners{};
  std::vector<std::string> order{};    // who came, round by round
  std::vector<wire::Entry> journal{};  // every answer that was taken
  std::vector<wire::Note> notes{};     // and what else the journal holds
  uint64_t bytes_up = 0, bytes_down = 0;
  uint64_t broken = 0;   // streams
  uint64_t resumed = 0;  // learners
  double time = 0;
  std::vector<std::vector<double>> parts{};  // sharing: what each owner keeps of the model
};

struct JobSetting {
  const SimulateInput& input;
  const SimulateOptions& options;
  uint64_t run = 0;
  Faults faults{};
  uint64_t fault_seed = 0;  // of the faults alone: other faults on the same noise
  /// Owners that are there already, with ledgers of earlier jobs; else they are made.
  std::vector<std::shared_ptr<Party>> parties{};
  /// Sharing: the keys of a job that has been, to play it again; else they follow from the seed.
  std::optional<Secret32> dealer{};
  std::vector<Secret32> secrets{};  // of its owners
  bool journal = true;              // whether the result has one, and who came
  /// After every round.
  std::function<void(const protocol::Learner&)> after = [](const protocol::Learner&) {};
};

/// Until all rounds are done. kUnavailable if too many owners have vanished for that.
Result<JobRun> run_job(const JobSetting& setting);

}  // namespace parley::sim
