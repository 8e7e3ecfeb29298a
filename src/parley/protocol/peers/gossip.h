// Synchronous training without a central learner: owners joined by any connected graph learn one
// model by passing released answers on (the further work of both papers).
//
//   every owner                                        its neighbours
//   Gossip{hello}, when a process begins         --->  the newest receipt they hold of it: its
//   nothing is paid before its ledger knows      <---  Gossip{welcome, proof}
//   what all of them have shown
//   theta[k] from the answers before, as a learner
//   gate: validate, clip, round, pay, add noise
//   Answer{lattice sum + noise, signed receipt}  --->  keep, check, pass on to all others
//   all N answers of round k are there: one step       likewise
//   Gossip{round, missing}, when nothing comes   --->  the answers it asks for, if there
//   or a neighbour shows that it is ahead
//
// Every owner is a learner of the same charter, and all compute the same model bit for bit, the one
// that a central learner would compute. Only answers that were paid for are sent, each once per
// round, and the rest is post-processing. So no owner pays more than with a central learner,
// however many owners learn, and no message could carry anyone's exact gradient.
//
// An answer may be lost, late, duplicated or damaged on the way, and an owner may crash: it gets
// its own answers from its ledger again, and the others' from its neighbours. A pure state machine.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parley/gate/gate.h"
#include "parley/protocol/sync.h"
#include "parley/wire/gossip.h"

namespace parley::protocol {

/// A message for a neighbour, by its place in the plan.
struct Whisper {
  size_t to = 0;
  Bytes message;
};

class GossipNode {
 public:
  /// Who it is among the plan's owners, and whom it is joined with.
  struct Place {
    size_t self = 0;
    std::vector<size_t> neighbours{};
  };
  /// Without a key its receipts are not signed, as in a simulation.
  GossipNode(SyncPlan plan, Place place, gate::Gate gate,
             std::optional<SigningKey> key = std::nullopt);

  /// Before the start: what a journal of this job has kept, whole rounds in their order. Of its own
  /// answers the ledger must know.
  Result<void> restore(const wire::Transcript& journal);
  /// Will show this owner a receipt that it signed in an earlier job.
  void remember(size_t owner, wire::Proof proof) { remembered_[owner] = std::move(proof); }

  /// A process begins, the first or another after a crash.
  Result<std::vector<Whisper>> start();

  /// Takes a message of a neighbour. An error leaves everything as it was, unless it is this
  /// machine's own failure, or `stopped` tells why this owner must not go on.
  Result<std::vector<Whisper>> step(size_t from, ByteView message);

  /// When nothing has come for a while: tells the neighbours where it stands and what it lacks.
  std::vector<Whisper> remind() const;
  /// Whose answers of this round are not there.
  std::vector<std::string> missing() const;

  bool finished() const { return learner_.finished(); }
  /// It is finished, and so, as they have said, are all its neighbours: nobody needs it any more.
  bool may_leave() const;
  /// Why the job ended early, if it did.
  std::optional<Error> refused() const;
  /// Why this owner alone must not go on: its ledger has forgotten what it has spent.
  const std::optional<Error>& stopped() const { return stopped_; }
  /// Its learner's state: model, evaluation, rounds done, what each owner has spent.
  const SyncLearner& learner() const { return learner_; }
  /// Rounds and evaluations that are whole, for a journal: the answers of each.
  size_t completed() const { return completed_.size(); }
  std::vector<wire::Entry> completed(size_t which) const;
  /// Answers that it holds, and those that it has given since it began.
  size_t held() const { return count_; }
  size_t given() const { return given_; }
  /// The newest receipt of an owner in this job.
  std::optional<wire::Proof> newest(size_t owner) const;
  /// To be called when nobody waits.
  void rest() { gate_.draw_ahead(); }

 private:
  using Key = std::pair<privacy::ReleaseKind, uint32_t>;
  using Answers = std::vector<std::optional<wire::Relayed>>;  // by owner

  Result<void> greet(size_t from, const wire::Gossip& gossip, std::vector<Whisper>& out);
  Result<void> recognise(const wire::Proof& proof);
  bool is_welcome() const;
  bool is_at_the_end(const wire::Gossip& gossip) const;
  bool is_ahead(const wire::Gossip& gossip) const;
  std::vector<Whisper> hello(std::vector<Whisper> out) const;
  Result<void> check_answer(const wire::Relayed& relayed, size_t owner) const;
  Result<void> take(size_t from, const wire::Relayed& relayed, std::vector<Whisper>& out);
  Result<std::vector<Whisper>> advance(std::vector<Whisper> out);
  Result<bool> answer(std::vector<Whisper>& out);
  std::vector<Whisper> refuse(const wire::RefusedBy& refused, std::optional<size_t> except);
  void supply(size_t to, const wire::Gossip& wish, std::vector<Whisper>& out) const;
  void pass_on(const wire::Relayed& relayed, std::optional<size_t> except,
               std::vector<Whisper>& out) const;
  std::vector<Whisper> told(const wire::Gossip& gossip,
                            std::optional<size_t> except = std::nullopt) const;
  wire::Gossip standing() const;
  wire::Gossip wish() const;
  std::optional<size_t> place_of(const std::string& owner) const;
  Key now() const { return {due().kind, due().round}; }
  SyncLearner::Due due() const { return learner_.due(place_.self); }
  Answers& held(const Key& key);

  SyncPlan plan_;
  Place place_;
  gate::Gate gate_;
  std::optional<SigningKey> key_;
  SyncLearner learner_;
  std::map<Key, Answers> held_{};  // all of the job: a neighbour that crashed needs them again
  std::vector<Key> completed_{};
  size_t count_ = 0, given_ = 0;
  std::vector<std::optional<wire::Proof>> remembered_;  // of earlier jobs
  std::vector<bool> welcomed_, done_;                   // by this owner; is it finished?
  std::optional<wire::RefusedBy> refused_{};
  std::optional<Error> stopped_{};
};

}  // namespace parley::protocol
