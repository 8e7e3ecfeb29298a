// The learner under secure aggregation: one step of the schedule per aggregation, along the sum
// over the survivors divided by the sum of their weights. Under protocol federated the step adds
// their mean update to theta (theory (F1)); under sync it is a step against their mean gradient.
// Both are projected to the box. The messages are at the top of owner.h. At the end, if the charter
// keeps epsilon for it, one more aggregation adds up the records' losses at the model; if it fails
// more often than `repeats` allows, the model has no evaluation. Under rule "gram" the first
// aggregation is the owners' Gram matrix, by which the steps are made. After an alarm of the pilot
// (pilot_guard.h) training may start again in the same way. Under rule "distance" owners give one
// number each in place of gradients, the learner makes no step, and the model is the pilot's
// optimum.
//
// The first aggregation begins when every owner has signed the charter, and each owner is shown all
// signatures. Every aggregation begins when every owner is there, or when enough are and the time
// is up; from then on the learner does not wait for missing owners until they come back. An owner
// whose stream breaks has left the current aggregation and takes part in the next. With fewer than
// `survivors` left, the aggregation is abandoned and begun again under another number. What was
// paid for it is lost, so an owner that has paid for all aggregations of the charter is no longer
// asked; when too few others are left, the job ends.
//
// The journal has the number of every aggregation before it begins, every masked vector with its
// receipt, and, before anyone hears of the next step, the opened sum with the seeds of the masks
// that did not cancel. The vectors without these masks must add up to the sum, and the sums give
// the model. Somebody who invents seeds cannot choose the sum that results, and is unlikely to get
// one that updates can have. An aggregation without a sum at the end of a journal is abandoned.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "parley/learn/schedule/schedule.h"
#include "parley/protocol/federated/group.h"
#include "parley/protocol/learner.h"
#include "parley/protocol/secagg/aggregation_server.h"
#include "parley/wire/stream.h"

namespace parley::protocol {

class FederatedLearner final : public Learner {
 public:
  explicit FederatedLearner(FederatedPlan plan);
  ~FederatedLearner() override;

  void attend(size_t owner) override;
  void leave(size_t owner) override;
  Result<Step> step(size_t owner, ByteView message) override;
  Step time_is_up() override;
  bool is_ready() const override;
  uint64_t stage() const override { return stage_; }

  Result<void> replay(const std::string& owner, const wire::ReceivedAnswer& answer) override;
  Result<void> replay(const wire::Note& note) override;
  Step decide(bool go_on) override;

  const std::vector<PlannedOwner>& owners() const override { return plan_.owners; }
  size_t numbers() const override;
  bool finished() const override {
    return (descent_.finished() || guard_.stopped()) && !evaluating();
  }
  uint64_t rounds_done() const override {
    return before_alarm_ + descent_.rounds_done() + guard_.holds();
  }
  uint64_t rounds() const override {
    return after_alarm() ? before_alarm_ + after().schedule.rounds.size()
                         : plan_.schedule.rounds.size();
  }
  bool awaits(size_t owner) const override;
  Trained trained() const override;

  /// Aggregations begun so far, abandoned ones among them.
  uint32_t begun() const { return begun_; }

 private:
  struct OwnerState {
    std::optional<wire::Stream> stream{};  // while it attends
    bool greeted = false;
    bool shown = false;     // on this stream, all approvals
    bool given_up = false;  // was away when an aggregation began
    bool refuses = false;   // since it greeted last, and it was dismissed
    struct Kind {
      uint32_t paid =
          0;  // aggregations; of answers by its own count. Unpaid ones may be among them
      uint32_t last = 0;  // its newest receipt
      Hash job{};         // of what was given up to it
    };
    std::array<Kind, privacy::kReleaseKinds> kinds{};
    uint32_t taken = 0;  // masked vectors of it, evaluations not counted
    JobSpent spent{};

    Kind& of(privacy::ReleaseKind kind) { return kinds[static_cast<size_t>(kind)]; }
    const Kind& of(privacy::ReleaseKind kind) const { return kinds[static_cast<size_t>(kind)]; }
  };
  /// The aggregation under way.
  struct Attempt;

  Result<Step> greet(size_t owner, const wire::Hello& hello);
  Step be_refused(size_t owner, const wire::Refusal& refusal);
  Result<Step> take(size_t owner, wire::ReceivedFromMember& message);
  Result<void> take_step(size_t owner, wire::ReceivedFromMember& message);
  Result<void> take_masked(size_t owner, const wire::ReceivedAnswer& answer);
  Result<void> check_signed(size_t owner, const wire::ReceivedAnswer& answer);
  void go_on(Step& step);
  bool all_approved() const;
  Result<void> take_approval(size_t owner, const Signature& approval);
  bool can_begin() const;
  /// After the last round, until the model is evaluated or that is given up.
  bool evaluating() const {
    return plan_.evaluation && descent_.finished() && !evaluation_ && !without_evaluation_;
  }
  /// What the next aggregation is of.
  privacy::ReleaseKind due() const;
  /// Of one owner, of this kind.
  uint32_t most(privacy::ReleaseKind kind) const;
  bool can_pay(const OwnerState& state) const {
    return !state.refuses && (evaluating() || state.of(due()).paid < most(due()));
  }
  bool after_alarm() const { return before_alarm_ > 0; }
  const FederatedPlan::Gram::After& after() const { return *plan_.gram->after_alarm; }
  size_t words() const;
  void expect_vectors();
  void begin(Step& step);
  Result<void> close(Step& step);
  Result<void> open_sum(Step& step);
  template <class Messages>
  void pass_on(const Messages& messages, Step& step);
  template <class Owners, class Message>
  void pass_on_to(const Owners& owners, const Message& message, Step& step);
  Result<void> take_sum(const std::vector<int64_t>& sum);
  void descend(const std::vector<int64_t>& sum);
  void take_gram(const std::vector<int64_t>& sum);
  void fall_back();
  /// After an alarm a person has said so.
  void decided(const std::optional<std::vector<double>>& held);
  double largest() const;
  void measure(const std::vector<int64_t>& sum);
  /// Times a sum of those whose vectors arrived: their mean. `whole` is that of all owners.
  double unit(double whole) const;
  void judge(std::vector<int64_t> sum);
  std::span<const double> model() const { return guard_.best().value_or(descent_.average()); }
  /// What the next aggregation is asked about.
  std::vector<double> point() const;
  void abandon(const Error& why);
  bool enough_can_pay() const;
  bool give_up_evaluation(Step& step);
  Error spent_up() const;
  void end_all(Step& step);
  template <class Message>
  void send(size_t owner, const Message& message, Step& step);

  FederatedPlan plan_;
  std::vector<OwnerState> states_;
  std::vector<std::optional<Signature>> approvals_;  // of the charter, of each owner
  learn::Descent descent_;
  uint32_t begun_ = 0, evaluations_begun_ = 0;
  std::optional<learn::Evaluation> evaluation_{};
  std::optional<learn::Distance> distance_{};
  bool without_evaluation_ = false;
  bool gram_known_ = false;
  uint64_t before_alarm_ = 0;  // rounds before rule gram took over; 0: it has not
  uint64_t stage_ = 0;
  std::set<size_t> arrived_{};      // whose masked vectors of aggregation begun_ were taken
  std::vector<uint64_t> masked_{};  // their sum
  std::unique_ptr<Attempt> attempt_;
  std::string trouble_{};  // why the last one was abandoned
};

}  // namespace parley::protocol
