// An owner of columns in a job with a dealer. The learner deals masks and noise, with which the
// exchange of the rule (exchange.h) makes the messages.
//
// If an owner comes back, all owners begin again after the last round that everyone has opened. The
// dealer gives the same masks and noise, the ledger gives what was paid for, and the messages are
// the same bit for bit.
#pragma once

#include "parley/protocol/vertical/owner.h"

namespace parley::protocol {

class DealtOwner final : public VerticalOwner {
 public:
  DealtOwner(VerticalSetting setting, gate::ColumnsGate gate, Entropy& entropy,
             std::optional<SigningKey> key = std::nullopt);

 private:
  void get_ready() override;
  Result<void> begin_session(uint32_t first_round) override;
  bool is_due(size_t from, const wire::LetterHead& head) const override;
  Result<void> take_letter(size_t from, uint32_t round, Bytes letter) override;
  std::vector<double> model() const override { return exchange_->model(); }
  Reply take(wire::DealerShare share) override;
  using VerticalOwner::post;

  void post(uint32_t round, const std::vector<Post>& posts);
  void return_to(uint32_t round);
  Result<void> begin_round();
  Result<void> end_round();

  std::unique_ptr<Exchange> exchange_{};  // once records are aligned
  uint32_t round_ = 0;                    // that is next, or under way
  bool begun_ = false;                    // paid for and sent
  std::optional<wire::DealerShare> share_{}, next_share_{};
  std::map<Secret32, uint32_t> seeds_{};  // of the dealer, and for which round each was
};

}  // namespace parley::protocol
