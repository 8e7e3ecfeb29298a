// Rule statistics without a dealer: each owner sends its shares and its own moments once, with
// noise of its own (opening.h), to all others, then the hash of all opened numbers.
#pragma once

#include "parley/protocol/vertical/pair/owner.h"

namespace parley::protocol {

class MomentsOwner final : public CellsOwner {
 public:
  MomentsOwner(VerticalSetting setting, gate::ColumnsGate gate, Entropy& entropy,
               std::optional<SigningKey> key = std::nullopt);

 private:
  struct Heard {
    Words<Word> moments{};
    Bytes hash{};
    uint32_t letters = 0;
  };

  Result<void> recall(PairFiles::Found found) override;
  Hash kept_session(size_t other) const override;
  size_t kept_pairs() const override { return opening_ ? opening_->pairs() : 0; }
  Result<void> keep_tested(size_t other, const privacy::ToMask<ot::PairShare>& share, ot::Role role,
                           const Hash& session) override;
  Result<void> forget_session(uint32_t first_round) override;
  Result<void> begin_release() override;
  Result<void> take_release(size_t from, const Bytes& letter) override;

  bool all_have_sent(uint32_t letters) const;
  Result<void> combine_if_all_are_here();
  Result<void> conclude_if_all_agree();
  Hash hash_of_opened() const;

  std::optional<Opening> opening_{};

  // Of this session.
  std::map<size_t, Heard> heard_{};
  bool compared_ = false;
  Words<Word> own_{};  // once it is paid for
};

}  // namespace parley::protocol
