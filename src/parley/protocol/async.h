// Asynchronous private gradient descent (Farokhi et al., Algorithm 1): owners come one at a time,
// each when its clock ticks. Both roles, in the order of the protocol:
//
//   learner                                    owner i (holds records, never shares them)
//                                  <-------    Hello{last round in its ledger}
//   Welcome{next round}            ------->
//   contact = "owner_requests":
//                                  <-------    Claim{its next round}, when its clock ticks
//   free: Query{round, middle (6)} ------->    gate: validate, clip, round, pay, add noise
//   busy: Grant{no}                ------->    waits for its next tick
//   contact = "broadcast":
//   Query{round, its own middle}   ------->    keeps it; nothing is computed yet
//                                  <-------    Claim{round}, when its clock ticks
//   the first: Grant{yes}          ------->    gate, as above
//   all others: Grant{no}          ------->    forget it: a race that is lost costs nothing
//   (5) and (7)                    <-------    Answer{lattice sum + noise, signed receipt}
//      ... until all owners together have given so many answers ...
//   Query{evaluation, the model}   ------->    gate: clamp the losses, pay, add noise
//   the joint loss                 <-------    Answer{noisy loss, signed receipt}
//   Finished{hash of the model}    ------->
//
// The evaluation is there if the charter keeps a part of epsilon for it. All owners that are
// connected are asked at once; an owner that does not come before the time is up is left out.
//
// Every owner counts its own rounds 1, 2, ... and gives at most the charter's `answers`, which its
// ledger enforces (theory (D10)). An answer that is late, because its owner was slow, lost its
// stream or crashed, has been paid for and is used when it comes; after the last round it is only
// recorded. What an owner was asked does not follow from the answers, so the learner records it.
//
// Pure state machines: bytes in, bytes out. Clocks are outside: somebody calls tick(), call() and
// time_is_up(), and leave() for an owner that takes too long.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/learn/schedule/async_descent.h"
#include "parley/plan/learner/async_plan.h"
#include "parley/protocol/learner.h"
#include "parley/protocol/owner.h"

namespace parley::protocol {

using plan::AsyncPlan;

class AsyncLearner final : public Learner {
 public:
  explicit AsyncLearner(AsyncPlan plan);

  void attend(size_t owner) override;
  /// Another owner may be asked now.
  void leave(size_t owner) override;

  Result<Step> step(size_t owner, ByteView message) override;

  /// Broadcast: it is time for the next round. Nothing while an owner has the word, and nothing
  /// twice.
  std::vector<Outgoing> call() override;
  Step time_is_up() override;

  Result<void> replay(const std::string& owner, const wire::ReceivedAnswer& answer) override;
  Result<void> replay(const wire::Note& note) override;

  const std::vector<PlannedOwner>& owners() const override { return plan_.owners; }
  size_t numbers() const override { return plan_.rule.dimension; }
  bool finished() const override { return descent_.finished() && !evaluating(); }
  uint64_t rounds_done() const override { return descent_.rounds_done(); }
  uint64_t rounds() const override { return plan_.rule.rounds; }
  uint64_t sweep() const override { return plan_.owners.size(); }
  Pace pace() const override {
    return {.at_any_time = true,
            .own_clocks = true,
            .calls = plan_.contact == charter::Contact::kBroadcast};
  }
  bool awaits(size_t owner) const override;
  uint32_t answers(size_t owner) const { return states_[owner].taken; }

  /// The output so far.
  std::vector<double> model() const { return descent_.output(); }
  Trained trained() const override;

 private:
  /// What the learner knows of one owner: there may be many.
  struct OwnerState {
    std::optional<wire::Stream> stream{};  // while it attends
    bool greeted = false;
    bool refuses = false;         // since it greeted last, and it was dismissed
    uint32_t taken = 0;           // its answers so far
    std::vector<double> asked{};  // where it was asked last, until it answers; empty if it was not
    bool waited_for = false;      // its answer to that, on this stream
    bool called = false;          // broadcast: it has the open call
    JobSpent spent{};
    Hash job{};  // of its answers so far
    std::optional<std::vector<int64_t>> evaluation{};
  };
  /// After the last round, before the last evaluation.
  bool evaluating() const { return plan_.evaluation && descent_.finished() && !evaluation_; }
  Result<Step> greet(size_t owner, const wire::Hello& hello);
  Step be_refused(size_t owner, const wire::Refusal& refusal);
  Result<Step> claim(size_t owner, const wire::Claim& claim);
  Result<Step> take(size_t owner, wire::ReceivedAnswer& answer);
  Result<void> take_answer(size_t owner, const wire::ReceivedAnswer& answer);
  Result<void> take_evaluation(size_t owner, const wire::ReceivedAnswer& answer);
  Result<void> check_signed(size_t owner, const wire::ReceivedAnswer& answer,
                            std::span<const double> point, const Hash& before) const;
  void descend(size_t owner, const wire::ReceivedAnswer& answer);
  void book(size_t owner, const wire::ReceivedAnswer& answer, double evaluation);
  void evaluate();
  std::vector<Outgoing> go_on(size_t owner, bool trained_before);
  Outgoing ask(size_t owner, std::span<const double> point);
  Outgoing ask_evaluation(size_t owner);
  Outgoing end(size_t owner);
  std::vector<Outgoing> end_all();
  template <class Message>
  Outgoing send(size_t owner, const Message& message) {
    return {owner, states_[owner].stream->send(message)};
  }

  AsyncPlan plan_;
  learn::AsyncDescent descent_;
  std::vector<OwnerState> states_;
  std::optional<size_t> holder_{};  // the owner that has the word
  bool called_ = false;             // a call is open, for the points as they are
  size_t evaluations_ = 0;
  std::optional<learn::Evaluation> evaluation_{};
};

class AsyncOwner : public Owner {
 public:
  AsyncOwner(const Hash& charter, std::string name, charter::Contact contact, gate::Gate gate,
             std::optional<SigningKey> key = std::nullopt)
      : Owner(charter, std::move(name), std::move(gate), std::move(key)), contact_(contact) {}

  Bytes connect() override;

  bool has_clock() const override { return true; }
  /// A claim, or nothing where one is open, nothing was called, or all answers are given.
  std::optional<Bytes> tick() override;

 private:
  Result<void> be_welcomed(const wire::Welcome& welcome) override;
  Reply consider(wire::ReceivedQuery query) override;
  Reply be_granted(const wire::Grant& grant) override;

  charter::Contact contact_;
  std::optional<wire::ReceivedQuery> called_{};  // broadcast: what it may claim
  bool busy_ = true;  // a claim is open, or the stream is not ready for one
};

}  // namespace parley::protocol
