// A job in one process: clocks tick, messages travel, streams break, owners and the learner crash
// and come back. The state machines and the bytes are those of a network; time is a number, and
// every run, faults included, replays from its seed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "parley/base/crypto/shamir.h"
#include "parley/protocol/learner.h"
#include "parley/sim/simulate.h"

namespace parley::sim {

class Party;

/// What may go wrong, each with its probability per message. Times are in units of the clocks, in
/// which an owner of rate 1 ticks once on average.
struct Faults {
  double drop = 0;       // a message is lost; at the deadline its stream is given up
  double duplicate = 0;  // arrives twice
  double corrupt = 0;    // arrives damaged, which TLS finds: the stream ends
  double crash = 0;      // the owner's process dies after a message, before its reply is sent
  double vanish = 0;     // the part of crashes from which the owner never returns
  double learner = 0;    // the learner's process dies after a message, and resumes from its journal
  double delay = 0;      // mean time on the way, exponential
  double reorder = 0;    // overtakes what is on the way
  double deadline = 3;   // the learner waits so long for an answer
  double absence = 2;    // mean time until an owner whose stream broke is back
  std::set<size_t> down{};  // owners that never come

  bool none() const {
    return drop + duplicate + corrupt + crash + learner + delay + reorder == 0 && down.empty();
  }
};

struct JobRun {
  struct Owner {
    uint32_t taken = 0;          // answers that the learner took
    uint32_t answered = 0;       // answers in its ledger
    protocol::JobSpent spent{};  // by its ledger
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
  uint64_t luck = 0;  // of the faults alone: other faults on the same noise
  /// Owners that are there already, with ledgers of earlier jobs; else they are made.
  std::vector<std::shared_ptr<Party>> parties{};
  /// Sharing: the keys of a job that has been, to play it again; else they follow from the seed.
  std::optional<Secret32> dealer{};
  std::vector<Secret32> secrets{};  // of its owners
  /// After every round.
  std::function<void(const protocol::Learner&)> after = [](const protocol::Learner&) {};
};

/// Until all rounds are done. kUnavailable if too many owners have vanished for that.
Result<JobRun> run_job(const JobSetting& setting);

}  // namespace parley::sim
