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
// If the charter has a quorum, a round is closed when that many owners have answered and the time
// is up; the weights of those who have answered are scaled to add up to 1. Owners then count their
// own rounds. An owner that may have paid for an older question is first asked that question again;
// its answer is recorded and not used. Other owners are asked the new question. Which owner was
// asked which question does not follow from the answers, so the learner records it. An owner that
// refuses counts as absent, and nobody waits for it.
//
// Under rule "gram" with one owner the first question is for its Gram matrix, by which the steps
// are made; with several owners secure sums are used (protocol/federated).
//
// Under rule "statistics" there is one round: the answer holds all second moments, and the model is
// the minimum of the loss that they give.
//
// A stream may break anywhere. The owner opens another, says Hello, and is asked again; its ledger
// gives the answer it has already paid for. Pure state machines: bytes in, bytes out, no clock, no
// sockets. The simulator and the network drive this same code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parley/plan/learner/sync_plan.h"
#include "parley/protocol/learner.h"
#include "parley/protocol/owner.h"

namespace parley::protocol {

using plan::SyncPlan;

class SyncLearner final : public Learner {
 public:
  explicit SyncLearner(SyncPlan plan);

  void attend(size_t owner) override;
  void leave(size_t owner) override;

  /// When a message completes a round: one step, and the next queries or, at the end, the
  /// farewells.
  Result<Step> step(size_t owner, ByteView message) override;

  Step time_is_up() override;
  bool is_ready() const override;

  Result<void> replay(const std::string& owner, const wire::ReceivedAnswer& answer) override;
  Result<void> replay(const wire::Note& note) override;
  Step decide(bool go_on) override;

  const std::vector<PlannedOwner>& owners() const override { return plan_.owners; }
  size_t numbers() const override { return plan_.numbers(); }
  bool finished() const override {
    return (descent_.finished() || guard_.stopped()) && !evaluating();
  }
  uint64_t rounds_done() const override { return descent_.rounds_done() + guard_.holds(); }
  uint64_t rounds() const override { return plan_.schedule.rounds.size(); }
  /// Is this owner's answer of the current round missing?
  bool awaits(size_t owner) const override;
  Trained trained() const override;

  /// What an owner is to answer next.
  struct Due {
    privacy::ReleaseKind kind = privacy::ReleaseKind::kAnswer;
    uint32_t round = 0;
    std::span<const double> theta{};
    size_t numbers = 0;
    bool late = false;  // its round is closed
  };
  Due due(size_t owner) const;

  /// The output so far: the average that the schedule defines or, after an alarm, the better model.
  std::span<const double> model() const { return guard_.best().value_or(descent_.average()); }
  /// What each owner has spent, by its last receipt.
  std::vector<JobSpent> spent() const;
  /// What the owners' evaluations come to, once they are there and if the charter asks for them.
  const std::optional<learn::Evaluation>& evaluation() const { return evaluation_; }

 private:
  /// A question that went out, where the learner notes it.
  struct Open {
    uint64_t in = 0;  // rounds done at that time
    std::vector<double> theta{};
  };
  /// What the learner knows of one owner.
  struct OwnerState {
    std::optional<wire::Stream> stream{};  // while it attends
    bool greeted = false;
    bool refuses = false;                          // since its last Hello; it was dismissed
    uint32_t taken = 0;                            // its answers so far
    std::optional<Open> open{};                    // until it answers
    std::optional<std::vector<int64_t>> answer{};  // of this round
    JobSpent spent{};
    Hash job{};            // of its answers so far
    bool vouched = false;  // by a signature that was checked since its stream opened
  };
  Result<Step> greet(size_t owner, const wire::Hello& hello);
  Step be_refused(size_t owner, const wire::Refusal& refusal);
  Result<void> take(size_t owner, const wire::ReceivedAnswer& answer);
  Result<void> check_some_signatures(size_t owner, const wire::ReceivedAnswer& answer);
  /// After the last round, before the last evaluation.
  bool evaluating() const { return plan_.evaluation && descent_.finished() && !evaluation_; }
  /// Before the first round.
  bool awaits_gram() const { return plan_.gram && !gram_known_; }
  bool tolerant() const { return plan_.quorum > 0 && plan_.quorum < plan_.owners.size(); }
  bool enough() const;
  bool go_on_if_complete();
  void go_on();
  void descend();
  void take_gram();
  void ask(size_t owner, Step& step);
  void ask_all(Step& step);
  std::vector<double> mean_answers() const;
  std::vector<double> to_minimum(std::vector<double> moments) const;

  SyncPlan plan_;
  learn::Descent descent_;
  std::vector<OwnerState> states_;
  size_t answered_ = 0;
  bool gram_known_ = false;
  std::optional<learn::Evaluation> evaluation_{};
};

/// It answers whatever its gate allows.
class SyncOwner final : public Owner {
 public:
  using Owner::Owner;
};

}  // namespace parley::protocol
