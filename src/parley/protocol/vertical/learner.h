// The learner of protocol sharing: it relays letters between owners and, if the charter has a
// dealer, is the dealer. It has no data, cannot read the letters, keeps receipts, and gets no
// gradient, no moments, no model and no prediction. For three and more owners without a dealer it
// announces which tokens of ids all have (ids/joint_tokens.h), so that no owner learns which ids
// only some have. As the dealer it draws the noise that no owner may know; without one it draws
// nothing, and privacy does not depend on it.
#pragma once

#include <optional>

#include "parley/learn/vertical/model_part.h"
#include "parley/protocol/learner.h"
#include "parley/protocol/vertical/dealer.h"
#include "parley/wire/stream.h"

namespace parley::protocol {

struct VerticalPlan {
  plan::VerticalTerms terms;
  std::string name{};  // of the charter
  std::vector<PlannedOwner> owners{};

  /// May owners come without knowing which records all of them have?
  bool has_to_align() const { return terms.intersect || !terms.cells.empty(); }
  /// Do they give the learner tokens of their ids?
  bool has_tokens() const { return terms.cells.size() > 2; }
};

Result<VerticalPlan> vertical_plan(const charter::Charter& charter);

class VerticalLearner final : public Learner {
 public:
  /// `key` is the dealer's, drawn once for a job, and must outlive this process: masks and noise
  /// follow from it. None where the charter has no dealer.
  VerticalLearner(VerticalPlan plan, const std::optional<Secret32>& key);

  void attend(size_t owner) override;
  void leave(size_t owner) override;
  Result<Step> step(size_t owner, ByteView message) override;
  Step time_is_up() override { return {}; }  // Nobody can be done without.

  Result<void> replay(const std::string& owner, const wire::ReceivedAnswer& answer) override;
  Result<void> replay(const wire::Note& note) override { return not_due(note); }

  const std::vector<PlannedOwner>& owners() const override { return plan_.owners; }
  size_t numbers() const override;
  bool finished() const override { return finished_; }
  uint64_t rounds_done() const override;
  uint64_t rounds() const override { return plan_.terms.rounds; }
  Pace pace() const override { return {.at_any_time = true}; }  // They write to each other.
  bool awaits(size_t owner) const override;
  /// No theta; the manifest names the model.
  Trained trained() const override;
  Result<void> conclude(const std::string& manifest) override;

 private:
  struct OwnerState {
    std::optional<wire::Stream> stream{};  // while it attends
    std::optional<wire::VerticalHello> hello{};
    uint32_t taken = 0;        // receipts
    std::vector<Hash> jobs{};  // after each of them
    JobSpent spent{};
    uint32_t opened = 0;       // rounds that it surely has opened
    size_t set_up = 0;         // owners that have its masked columns
    bool has_written = false;  // a letter in this session
    bool answered = false;     // the round that is dealt
    std::optional<Hash> part{};
    Bytes tokens{};  // of its ids, as far as they are here
    bool all_tokens = false;
  };
  Result<Step> greet(size_t owner, const wire::Hello& hello);
  Result<Step> relay(size_t owner, wire::Sealed& letter);
  Result<Step> take(size_t owner, wire::ReceivedAnswer& answer);
  Result<Step> take(size_t owner, const wire::ModelPart& part);
  Result<Step> take(size_t owner, const wire::IdTokens& piece);
  Result<void> check_answer(size_t owner, const wire::ReceivedAnswer& answer) const;
  void book(size_t owner, const wire::ReceivedAnswer& answer);
  std::optional<Error> mismatch() const;
  bool all_are_aligned() const;
  void begin_alignment(Step& step);
  void tell_common_tokens(Step& step);
  void begin_session(Step& step);
  wire::Session next_session();
  void deal(Step& step);
  void finish_if_done(Step& step);
  void end_all(Step& step);
  template <class Message>
  void send(size_t owner, const Message& message, Step& step) {
    step.messages.push_back({owner, states_[owner].stream->send(message)});
  }
  bool all_are_there() const;
  learn::Manifest manifest() const;

  VerticalPlan plan_;
  std::optional<Secret32> key_;
  std::vector<OwnerState> states_;
  std::optional<Dealer> dealer_{};  // once every owner has come
  uint32_t session_ = 0;
  bool live_ = false;      // nobody has left since the session began
  bool aligning_ = false;  // owners find out which records all have, and will greet again
  uint32_t round_ = 0;     // next, or dealt
  bool dealt_ = false;
  bool finished_ = false;
};

}  // namespace parley::protocol
