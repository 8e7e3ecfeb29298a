// An asynchronous job in one process: clocks tick, messages travel, streams break, owners crash and
// come back. The state machines and the bytes are those of a network; time is a number, and every
// run, faults included, replays from its seed.
#pragma once

#include <functional>
#include <vector>

#include "parley/protocol/async_plan.h"
#include "parley/sim/outcome.h"

namespace parley::sim {

/// What may go wrong, each with its probability per message. Times are in units of the clocks, in
/// which an owner of rate 1 ticks once on average.
struct AsyncFaults {
  double drop = 0;       // a message is lost; at the deadline its stream is given up
  double duplicate = 0;  // arrives twice
  double corrupt = 0;    // arrives damaged, which TLS finds: the stream ends
  double crash = 0;      // the owner's process dies after a message, before its reply is sent
  double vanish = 0;     // the part of crashes from which the owner never returns
  double delay = 0;      // mean time on the way, exponential
  double reorder = 0;    // overtakes what is on the way
  double deadline = 3;   // the learner waits so long for an answer
  double absence = 2;    // mean time until an owner whose stream broke is back

  bool none() const { return drop + duplicate + corrupt + crash + delay + reorder == 0; }
};

/// One run of an asynchronous job.
struct AsyncRun {
  struct Owner {
    uint32_t taken = 0;     // answers that the learner took
    uint32_t answered = 0;  // answers in its ledger
    double spent = 0;       // by its ledger
  };
  std::vector<double> model{};
  std::vector<Owner> owners{};
  std::vector<size_t> order{};  // who came, round by round
  uint64_t bytes_up = 0, bytes_down = 0;
  uint64_t broken = 0;  // streams
  double time = 0;
};

struct AsyncSetting {
  const SimulateInput& input;
  const SimulateOptions& options;
  protocol::AsyncPlan plan;
  uint64_t run = 0;
  AsyncFaults faults{};
  /// After every answer that was taken.
  std::function<void(const protocol::AsyncLearner&)> after = [](const protocol::AsyncLearner&) {};
};

/// Until all rounds are done. kUnavailable if too many owners have vanished for that.
Result<AsyncRun> run_async(const AsyncSetting& setting);

/// All runs of a simulation without faults. Fitness is noted once per N rounds, in which every
/// owner comes once on average, and at the end.
Result<Outcome> simulate_async(const SimulateInput& input, const SimulateOptions& options,
                               const Reference& reference);

/// The rounds after which fitness is noted.
bool is_noted(uint64_t round, const learn::AsyncRule& rule);

}  // namespace parley::sim
