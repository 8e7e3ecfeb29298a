// A learner's side of a job in any protocol: the interface that the network, the simulator and
// `parley verify` use. Pure: bytes in, bytes out, no clock.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parley/protocol/job.h"
#include "parley/protocol/pilot_guard.h"

namespace parley::protocol {

/// When owners speak.
struct Pace {
  bool at_any_time = false;  // also when they were not asked
  bool own_clocks = false;   // each comes when its clock ticks, and goes with its last answer
  bool calls = false;        // the learner calls them at regular times
};

class Learner {
 public:
  explicit Learner(size_t owners) : remembered_(owners), newest_(owners) {}
  Learner(const Learner&) = default;
  virtual ~Learner() = default;

  /// Will show this owner a receipt that it signed in an earlier job, whenever it comes.
  void remember(size_t owner, wire::Proof proof) { remembered_.at(owner) = std::move(proof); }
  /// The owner's newest receipt, of this job or, before its first answer, as remembered.
  std::optional<wire::Proof> newest(size_t owner) const {
    return newest_[owner] ? newest_[owner] : remembered_[owner];
  }

  /// The first answers will be tested.
  void guard(PilotGuard guard) { guard_ = std::move(guard); }
  const PilotGuard& guard() const { return guard_; }
  /// Where the guard asks: a person has decided.
  virtual Step decide(bool go_on);

  /// A stream of this owner has opened; a greeting must follow. An older one is forgotten.
  virtual void attend(size_t owner) = 0;
  /// Its stream has closed, or is closed because it takes too long. Nothing is lost: when the
  /// owner comes back it is asked again.
  virtual void leave(size_t owner) = 0;

  /// Takes one message of an owner that attends. An error ends the owner's stream and changes
  /// nothing else; an owner's refusal ends the job, unless the others are enough.
  virtual Result<Step> step(size_t owner, ByteView message) = 0;

  /// It is one of the regular times of a protocol that calls owners at such.
  virtual std::vector<Outgoing> call() { return {}; }
  /// The time that the charter allows for an answer has passed since the last round: where enough
  /// owners have answered, goes on without the others. To be called again until it does.
  virtual Step time_is_up() = 0;
  /// Nobody is left to wait for, since somebody left: time_is_up would go on at once.
  virtual bool is_ready() const { return false; }
  /// Changes whenever the charter's time for an answer begins anew.
  virtual uint64_t stage() const { return rounds_done(); }

  /// Takes an answer from the journal of an interrupted job, or from a transcript, in its order,
  /// before anyone attends.
  virtual Result<void> replay(const std::string& owner, const wire::ReceivedAnswer& answer) = 0;
  virtual Result<void> replay(const wire::Note& note) = 0;

  virtual Pace pace() const { return {}; }
  virtual const std::vector<PlannedOwner>& owners() const = 0;
  /// How many numbers the longest answer has.
  virtual size_t numbers() const = 0;
  virtual bool finished() const = 0;
  virtual uint64_t rounds_done() const = 0;
  virtual uint64_t rounds() const = 0;
  /// Rounds in which every owner answers once, on average.
  virtual uint64_t sweep() const { return 1; }
  /// Has this owner been asked, or must it be, something that it has not answered?
  virtual bool awaits(size_t owner) const = 0;
  virtual Trained trained() const = 0;
  /// After the replay of a journal: the manifest that this job's owners were perhaps told, where
  /// they keep the parts. The job has ended with it.
  virtual Result<void> conclude(const std::string&) { return {}; }
  /// Why the job was abandoned, if it was.
  const std::optional<Error>& refused() const { return refused_; }

 protected:
  /// With the newest of its receipts, which its ledger must know.
  wire::Welcome welcome(size_t owner, uint32_t next_round) const;
  void keep_newest(size_t owner, const Hash& charter, const wire::ReceivedAnswer& answer);
  void refuse(Error why) { refused_ = std::move(why); }
  PilotGuard guard_{};

 private:
  std::vector<std::optional<wire::Proof>> remembered_;  // of earlier jobs
  std::vector<std::optional<wire::Proof>> newest_;      // of this job
  std::optional<Error> refused_{};
};

/// The place of an owner that a journal names.
Result<size_t> place_of(const std::vector<PlannedOwner>& owners, const std::string& name);

/// Why an owner cannot go on: it has answered what this learner does not know to have asked, and
/// where questions are noted they cannot be found again.
Error unknown_answers(const PlannedOwner& owner, uint32_t knows);

/// It speaks of secure aggregation where the charter has none.
Error no_aggregation(const PlannedOwner& owner);

/// An owner will not answer, for this reason.
Error refusal_of(const PlannedOwner& owner, const wire::Refusal& refusal);

/// A note that does not fit what is before it.
Error not_due(const wire::Note& note);

/// Why an owner is shown its receipt, not asked: its ledger has forgotten answers.
Error forgot(const PlannedOwner& owner, uint32_t knows, uint32_t gave);

}  // namespace parley::protocol
