// Synchronous private gradient descent (Wu et al., Algorithms 1 and 2, and any schedule). Both
// roles, in the order of the protocol:
//
//   learner                                   owner (holds records, never shares them)
//                                 <-------    Hello{last round in its ledger}
//   Welcome{next round, newest    ------->    its ledger must know every receipt it has signed
//           receipts}
//   Query{k, theta[k]}            ------->    gate: validate, clip, round, pay, add noise
//   average, step, project        <-------    Answer{lattice sum + noise, signed receipt}
//      ... once per row of the schedule ...
//   Query{evaluation, the model}  ------->    gate: validate, clamp the losses, pay, add noise
//   the joint loss                <-------    Answer{noisy loss, signed receipt}
//   Finished{hash of the model}   ------->
//
// The evaluation is there if the charter keeps a part of epsilon for it.
//
// Under rule "statistics" there is one round, in which the answer holds all second moments and the
// step goes to their minimum.
//
// A stream may break anywhere. The owner opens another, says Hello, and is asked again; its ledger
// gives the answer it has already paid for. Pure state machines: bytes in, bytes out, no clock, no
// sockets. The simulator and the network drive this same code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parley/gate/gate.h"
#include "parley/learn/model.h"
#include "parley/learn/schedule.h"
#include "parley/wire/stream.h"

namespace parley::protocol {

/// All a learner knows: public numbers of the charter, and a schedule made from them and the pilot.
struct SyncPlan {
  struct Owner {
    std::string name;
    uint64_t rows = 0;
    double weight = 0;                  // v_i; they add up to 1
    std::optional<SignKey> sign_key{};  // its receipts must be signed by it; none in a simulation
    double evaluation_variance = 0;     // of the noise in its evaluation, in lattice units
  };
  struct Moments {
    double off = 1;    // what entries beside the diagonal were multiplied with
    double floor = 0;  // below it an eigenvalue is noise
  };
  Hash charter{};
  std::vector<Owner> owners;
  double gamma = 0;  // of the lattice on which answers arrive
  double box = 0;
  double l2 = 0;
  learn::Schedule schedule;
  /// Set where answers are second moments: the one step goes to their minimum.
  std::optional<Moments> moments{};
  /// Set where the model is evaluated after the last round.
  std::optional<learn::EvaluationMap> evaluation{};

  /// How many numbers an answer has.
  size_t numbers() const;
};

/// What an owner has spent on a job.
struct JobSpent {
  double epsilon = 0;
  double evaluation = 0;  // part of it
};

/// A message for one owner in one run. A networked learner has one run.
struct Outgoing {
  size_t owner = 0;
  size_t run = 0;
  Bytes message;
};

/// What a message of an owner led to.
struct Step {
  std::vector<Outgoing> messages{};
  std::optional<wire::ReceivedAnswer> taken{};  // for the journal
  std::optional<Error> stale{};                 // why this owner is shown its receipt, not asked
};

class SyncLearner {
 public:
  explicit SyncLearner(SyncPlan plan, size_t runs = 1);

  /// Will show this owner a receipt that it signed in an earlier job, whenever it comes.
  void remember(size_t owner, wire::Proof proof);
  /// The newest receipts, by owner; of this job or, before its first answer, as remembered.
  std::optional<wire::Proof> newest(size_t owner) const;

  /// A stream of this owner has opened; a greeting must follow. An older one is forgotten.
  void attend(size_t owner, size_t run = 0);
  /// Its stream has closed. Nothing is lost: when the owner comes back it is asked again.
  void leave(size_t owner, size_t run = 0);

  /// Takes one message of an owner that attends. When it completes a round: one step, and the next
  /// queries or, at the end, the farewells. An error ends the owner's stream and changes nothing
  /// else; an owner's refusal ends the job.
  Result<Step> step(size_t owner, size_t run, ByteView message);

  /// Takes an answer from the journal of an interrupted job, before anyone attends.
  Result<void> replay(const std::string& owner, wire::ReceivedAnswer answer);

  bool finished() const { return descent_.finished() && !evaluating(); }
  size_t rounds_done() const { return descent_.rounds_done(); }
  /// Why the job was abandoned, if it was.
  const std::optional<Error>& refused() const { return refused_; }
  /// Is this owner's answer of the current round missing?
  bool awaits(size_t owner, size_t run = 0) const;

  /// The output so far: the average that the schedule defines.
  std::span<const double> model(size_t run = 0) const { return descent_.average(run); }
  /// What each owner has spent, by its last receipt.
  std::vector<JobSpent> spent(size_t run = 0) const;
  /// What the owners' evaluations come to, once they are there and if the charter asks for them.
  std::optional<learn::Evaluation> evaluation(size_t run = 0) const;

 private:
  /// What the learner knows of one owner in one run.
  struct Seat {
    std::optional<wire::Stream> stream{};  // while it attends
    bool greeted = false;
    std::optional<std::vector<int64_t>> answer{};  // of this round
    JobSpent spent{};
    Hash job{};                           // of its answers so far
    bool vouched = false;                 // by a signature that was checked since its stream opened
    std::optional<wire::Proof> newest{};  // of this job
  };
  Result<Step> greet(size_t owner, size_t run, const wire::Hello& hello);
  Result<Step> refuse(size_t owner, const wire::Refusal& refusal);
  Result<void> take(size_t owner, size_t run, const wire::ReceivedAnswer& answer);
  Result<void> check_receipt(size_t owner, size_t run, const wire::ReceivedAnswer& answer);
  Result<void> check_signature(size_t owner, size_t run, const wire::ReceivedAnswer& answer);
  /// After the last round, before the last evaluation.
  bool evaluating() const {
    return plan_.evaluation && descent_.finished() && evaluations_.empty();
  }
  privacy::ReleaseKind asked() const;
  uint32_t round() const;
  size_t numbers() const;
  std::span<const double> question(size_t run) const;
  bool go_on_if_complete();
  learn::Evaluation joint_evaluation(size_t run) const;
  void ask(size_t owner, size_t run, std::vector<Outgoing>& out);
  std::vector<Outgoing> ask_all();
  std::vector<double> mean_answers() const;
  std::vector<double> to_minimum(std::span<const double> answers) const;
  Error wrong(size_t owner, const std::string& what) const;
  Seat& seat(size_t owner, size_t run) { return seats_[run * plan_.owners.size() + owner]; }
  const Seat& seat(size_t owner, size_t run) const {
    return seats_[run * plan_.owners.size() + owner];
  }

  SyncPlan plan_;
  learn::Descent descent_;
  std::vector<Seat> seats_;                             // per run and owner
  std::vector<std::optional<wire::Proof>> remembered_;  // per owner, of earlier jobs
  size_t answered_ = 0;
  std::vector<learn::Evaluation> evaluations_{};  // per run, at the end
  std::optional<Error> refused_{};
};

class SyncOwner {
 public:
  /// Without a key its receipts are not signed, as in a simulation.
  SyncOwner(const Hash& charter, std::string name, gate::Gate gate,
            std::optional<SigningKey> key = std::nullopt);

  /// Opens a stream, the first or another after it broke: returns the greeting.
  Bytes connect();

  /// The reply to a message of the learner: an answer, a refusal with its reason, or nothing. A
  /// message that does not belong to this stream is an error and ends it; so is the learner's
  /// Abort, and a failure of this machine.
  Result<std::optional<Bytes>> step(ByteView message);

  /// The hash of the model, once the learner has said farewell.
  const std::optional<Hash>& finished() const { return finished_; }
  /// Whether or not it has: is there anything left to answer?
  bool gave_all() const { return gate_.is_done(); }

  /// What the last message asked and this owner refused to answer, if it did.
  const std::optional<Error>& refused() const { return refused_; }

  /// To be called when nobody waits for an answer.
  void rest() { gate_.draw_ahead(); }

 private:
  Result<void> be_welcomed(const wire::Welcome& welcome);
  Result<void> recognise(const wire::Proof& proof);
  Result<Bytes> answer(const wire::ReceivedQuery& query);

  Hash charter_;
  std::string name_;
  wire::Stream stream_;
  gate::Gate gate_;
  std::optional<SigningKey> key_;
  std::optional<Hash> finished_{};
  std::optional<Error> refused_{};
};

/// SHA-256 of a model's exact bits.
Hash model_hash(std::span<const double> theta);

}  // namespace parley::protocol
