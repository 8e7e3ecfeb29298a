// Rule gradients without a dealer: rounds of three letters between every two owners (rounds.h).
//
// In a round an owner first hears letter 1 of all others; then it pays, for exactly these and for
// coefficients of its own, and writes letters 2; when it has all letters 2 it keeps on disk which
// they were, and writes letters 3, the release; when it has all letters 3 it keeps its gradient on
// disk, and goes on to the next round. After a crash at any of these places a session begins anew
// with the round that some owner has not concluded, which is repeated bit for bit: owners say in
// their first letter how many rounds they have concluded, which cannot differ by more than one.
//
// Refused: other letters 1 than those that were paid for (by the ledger), another letter than one
// that is on disk, a state older than the ledger.
#pragma once

#include "parley/protocol/vertical/pair/owner.h"
#include "parley/protocol/vertical/pair/rounds.h"

namespace parley::protocol {

class RoundsOwner final : public CellsOwner {
 public:
  RoundsOwner(VerticalSetting setting, gate::ColumnsGate gate, Entropy& entropy,
              std::optional<SigningKey> key = std::nullopt);

 private:
  struct Heard {
    uint32_t letters = 0, done = 0;
    std::optional<Bytes> bits{}, words{}, sum{};
    std::optional<Bytes> next_bits{};  // of the next round already
    WipedVector<uint64_t> off{};
  };

  Result<void> recall(PairFiles::Found found) override;
  Hash kept_session(size_t other) const override {
    return rounds_ ? rounds_->session(other) : Hash{};
  }
  size_t kept_pairs() const override { return rounds_ ? rounds_->pairs() : 0; }
  Result<void> keep_tested(size_t other, const privacy::ToMask<ot::PairShare>& share, ot::Role role,
                           const Hash& session) override;
  Bytes standing() const override;
  Result<void> take_standing(size_t other, ByteView standing) override;
  Result<void> forget_session(uint32_t first_round) override;
  Result<void> begin_release() override;
  Result<void> take_release(size_t from, const Bytes& letter) override;

  uint32_t done() const { return rounds_ ? rounds_->done() : 0; }
  bool all_have(std::optional<Bytes> Heard::* letter) const;
  Result<void> begin_round(uint32_t round);
  Result<void> go_on();
  Result<void> pay_and_answer();
  Result<void> release();
  Result<void> conclude();
  Hash commitment_of_round() const;
  Error another_letter(size_t from) const;

  std::optional<Rounds> rounds_{};

  // Of this session.
  std::map<size_t, Heard> heard_{};
  uint32_t first_ = 0, round_ = 0;  // none before the release begins
  bool paid_ = false, sent_ = false;
  std::vector<int64_t> n_{};
  std::optional<learn::PartyDescent> descent_{};  // before this round
};

}  // namespace parley::protocol
