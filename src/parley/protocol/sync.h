// Synchronous private gradient descent (Wu et al., Algorithms 1 and 2, and any schedule). Both
// roles, in the order of the protocol:
//
//   learner                                   owner (holds records, never shares them)
//   Query{k, theta[k]}            ------->    gate: validate, clip, round, pay, add noise
//   average, step, project        <-------    Answer{lattice sum + noise, receipt}
//      ... once per row of the schedule ...
//   Finished{hash of the model}   ------->
//
// Pure state machines: bytes in, bytes out, no clock, no sockets. The simulator and the network
// drive this same code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parley/gate/gate.h"
#include "parley/learn/schedule.h"
#include "parley/wire/stream.h"

namespace parley::protocol {

/// All a learner knows: public numbers of the charter, and a schedule made from them and the pilot.
struct SyncPlan {
  struct Owner {
    std::string name;
    uint64_t rows = 0;
    double weight = 0;  // v_i; they add up to 1
  };
  Hash charter{};
  std::vector<Owner> owners;
  double gamma = 0;  // of the lattice on which answers arrive
  double box = 0;
  double l2 = 0;
  learn::Schedule schedule;
};

/// A message for one owner in one run. A networked learner has one run.
struct Outgoing {
  size_t owner = 0;
  size_t run = 0;
  Bytes message;
};

class SyncLearner {
 public:
  explicit SyncLearner(SyncPlan plan, size_t runs = 1);

  /// The queries of the first round.
  std::vector<Outgoing> start() { return ask(); }

  /// Takes one message of an owner. When it completes a round: one step, and the next queries or,
  /// at the end, the farewells. An error ends the job; the model stays that of the last whole
  /// round.
  Result<std::vector<Outgoing>> step(size_t owner, size_t run, ByteView message);

  bool finished() const { return descent_.finished(); }
  size_t rounds_done() const { return descent_.rounds_done(); }

  /// The output so far: the average that the schedule defines.
  std::span<const double> model(size_t run) const { return descent_.average(run); }

 private:
  Result<void> take(size_t owner, size_t run, wire::ReceivedAnswer answer);
  std::vector<Outgoing> ask();
  std::vector<double> mean_gradients() const;
  size_t slot(size_t owner, size_t run) const { return run * plan_.owners.size() + owner; }

  SyncPlan plan_;
  learn::Descent descent_;
  std::vector<wire::Stream> streams_;                         // per run and owner
  std::vector<std::optional<std::vector<int64_t>>> answers_;  // of this round, likewise
  size_t answered_ = 0;
};

class SyncOwner {
 public:
  SyncOwner(const Hash& charter, gate::Gate gate) : stream_(charter), gate_(std::move(gate)) {}

  /// The reply to a message of the learner: an answer, a refusal with its reason, or nothing at the
  /// end. A message that does not belong to this stream is an error, and ends it.
  Result<std::optional<Bytes>> step(ByteView message);

  /// To be called when nobody waits for an answer.
  void rest() { gate_.draw_ahead(); }

 private:
  wire::Stream stream_;
  gate::Gate gate_;
};

/// SHA-256 of a model's exact bits.
Hash model_hash(std::span<const double> theta);

}  // namespace parley::protocol
