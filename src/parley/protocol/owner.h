// An owner's side of a job in any protocol: the learner welcomes it, its ledger must know every
// receipt it has signed, and it answers through its gate. Pure: bytes in, bytes out. A protocol in
// which the owner does more than answer overrides the virtual functions.
#pragma once

#include <optional>
#include <string>

#include "parley/gate/gate.h"
#include "parley/plan/at_end.h"
#include "parley/wire/stream.h"

namespace parley::protocol {

/// This machine is the reason: it has failed, or was asked to stop. The learner need not know.
inline bool is_our_own(const Error& error) {
  return error.code == Code::kFailed || error.code == Code::kUnavailable;
}

class Owner {
 public:
  /// Without a key its receipts are not signed, as in a simulation.
  Owner(const Hash& charter, std::string name, gate::Gate gate,
        std::optional<SigningKey> key = std::nullopt);
  Owner(Owner&&) = default;
  virtual ~Owner() = default;

  /// Opens a stream, the first or another after it broke: returns the greeting.
  virtual Bytes connect();

  /// Does it come when a clock of its own ticks, and not when it is asked?
  virtual bool has_clock() const { return false; }
  /// Its clock has ticked: what it then says, if anything.
  virtual std::optional<Bytes> tick() { return std::nullopt; }

  /// The reply to a message of the learner: an answer, a refusal with its reason, or nothing. A
  /// message that does not belong to this stream is an error and ends it, as does a question before
  /// the welcome, and an end before its time; so is the learner's Abort, and a failure of this
  /// machine.
  Result<std::optional<Bytes>> step(ByteView message);
  /// What it says besides, one after another, to be sent in this order after the reply.
  virtual std::optional<Bytes> more() { return std::nullopt; }

  /// How many messages have said something new: a welcome does not, nor does a question whose
  /// answer was there already.
  size_t news() const { return news_; }

  /// What an honest learner has had of this owner when it says that the job has ended.
  void expect_at_end(plan::AtEnd least) { at_end_ = least; }
  /// The hash of the model, once the learner has said farewell.
  const std::optional<Hash>& finished() const { return finished_; }
  /// Whether or not it has: is there anything left to answer?
  virtual bool gave_all() const { return gate_->is_done(); }

  /// What this owner keeps of the model, where each keeps a part; for a simulation, which measures
  /// it.
  virtual std::optional<std::vector<double>> part_of_model() const { return std::nullopt; }

  /// What the last message asked and this owner refused to answer, if it did.
  const std::optional<Error>& refused() const { return refused_; }

  /// To be called when nobody waits for an answer.
  virtual void rest() { gate_->draw_ahead(); }

 protected:
  /// Of a protocol whose owners answer through a gate of its own.
  Owner(const Hash& charter, std::string name, std::optional<SigningKey> key);

  using Reply = Result<std::optional<Bytes>>;
  virtual wire::Hello greeting() { return {wire::kVersion, last_round(), {}}; }
  virtual Result<void> be_welcomed(const wire::Welcome& welcome);
  virtual Reply consider(wire::ReceivedQuery query) { return answer(query); }
  virtual Reply be_granted(const wire::Grant& grant);
  virtual Reply aggregate(wire::ToMember message);
  virtual Reply be_told(const wire::Finished& finished);
  virtual Reply take(wire::Sealed letter);
  virtual Reply take(wire::DealerShare share);
  virtual Reply take(wire::Session session);
  virtual Reply take(wire::IdTokens tokens);

  Reply answer(const wire::ReceivedQuery& query);
  /// The reason goes to the learner, unless this machine is the reason.
  Reply refuse(const Error& error);
  std::optional<Signature> sign(const privacy::Receipt& receipt) const;
  std::optional<Signature> sign(ByteView bytes) const;
  virtual uint32_t last_round() const { return gate_->last_round(); }
  virtual Result<void> recognise(const Hash& charter, const privacy::Receipt& receipt) {
    return gate_->recognise(charter, receipt);
  }
  bool gave_every_answer() const { return gate_->gave_every_answer(); }
  const Hash& charter() const { return charter_; }
  const std::string& name() const { return name_; }
  template <wire::Sendable Message>
  Bytes send(const Message& message) {
    return stream_.send(message);
  }

 private:
  Result<void> check_proof(const wire::Proof& proof);
  Result<void> check_turn(bool welcome) const;
  Result<void> check_end() const;

  Hash charter_;
  std::string name_;
  wire::Stream stream_;
  std::optional<gate::Gate> gate_;  // none where the protocol has its own
  std::optional<SigningKey> key_;
  plan::AtEnd at_end_{};
  bool welcomed_ = false;  // on this stream
  bool repeats_ = false;   // the last question had been answered before
  size_t news_ = 0;
  std::optional<Hash> finished_{};
  std::optional<Error> refused_{};
};

}  // namespace parley::protocol
