#include "parley/protocol/vertical/dealt/owner.h"

#include <utility>

namespace parley::protocol {

DealtOwner::DealtOwner(VerticalSetting setting, gate::ColumnsGate gate, Entropy& entropy,
                       std::optional<SigningKey> key)
    : VerticalOwner(std::move(setting), std::move(gate), entropy, std::move(key)) {
  if (gate_.is_aligned()) get_ready();
}

void DealtOwner::get_ready() {
  columns_ = gate_.digest(setting_.secret);
  exchange_ =
      make_exchange(gate_, derived(setting_.secret, TupleBytes().add("noise").add(columns_)));
}

Result<void> DealtOwner::begin_session(uint32_t first_round) {
  exchange_->begin_session();
  return_to(first_round);
  next_share_.reset();
  return {};
}

/// To where this owner stood before that round.
void DealtOwner::return_to(uint32_t round) {
  exchange_->return_to(std::span<const Opened>(opened_).first(round - 1));
  round_ = round;
  begun_ = false;
  share_.reset();
}

void DealtOwner::post(uint32_t round, const std::vector<Post>& posts) {
  for (const auto& [to, words] : posts)
    if (to != self()) post(to, round, bytes_of_words(words));
}

Result<std::optional<Bytes>> DealtOwner::take(wire::DealerShare share) {
  if (share.session != session_ || session_ == 0 || aligning_)
    return out_of_order("masks of another session");
  if (const auto known = seeds_.emplace(share.seed, share.round).first;
      known->second != share.round)
    return Error{Code::kIntegrity,
                 "the dealer gives round " + std::to_string(share.round) + " the seed of round " +
                     std::to_string(known->second) + ": what hides both would be the same",
                 "Do not go on, and ask who runs the learner."};
  if (share.round == 0) {
    post(0, exchange_->setup(share.seed));
    if (round_ > gate_.terms().rounds) TRY(give_part());
    return more();
  }
  // Everyone has paid for a round, but what this owner is told at its end may still be on its way.
  const bool early = begun_ && share.round == round_ + 1 && !next_share_;
  if ((share.round != round_ || begun_) && !early)
    return out_of_order("masks of round " + std::to_string(share.round));
  (early ? next_share_ : share_) = std::move(share);
  if (!early) TRY(begin_round());
  return more();
}

// A round: pay, send what the rule says, then open what the others sent.

Result<void> DealtOwner::begin_round() {
  const auto posts = TRY(exchange_->begin_round(*share_));
  auto paid =
      gate_.pay(round_, gate::sharing_question(charter(), round_, share_->seed), commitment(posts));
  if (!paid) return give_up(paid.error());
  begun_ = true;
  post(round_, posts);
  // Last: when the learner has every receipt, it has passed on all that was paid for.
  give_receipt(*std::move(paid));
  return end_round();
}

bool DealtOwner::is_due(size_t, const wire::LetterHead& head) const {
  return exchange_ && (head.round == 0 || (share_ && head.round == share_->round));
}

Result<void> DealtOwner::take_letter(size_t from, uint32_t round, Bytes letter) {
  if (letter.size() % 8 != 0) return out_of_order("a letter of another length");
  if (round == 0) return exchange_->take_setup(from, words_in(letter));
  post(round, TRY(exchange_->take(from, words_in(letter))));
  return end_round();
}

/// Once everything is there: what was opened, and what follows from it.
Result<void> DealtOwner::end_round() {
  const auto opened = begun_ ? exchange_->result() : std::nullopt;
  if (!opened) return {};
  if (round_ <= opened_.size() && opened_[round_ - 1] != *opened) return mismatch_in(round_);
  if (round_ > opened_.size()) opened_.push_back(*opened);
  return_to(round_ + 1);
  if (round_ > gate_.terms().rounds) return give_part();
  if (!next_share_) return {};
  share_ = std::exchange(next_share_, std::nullopt);
  return begin_round();
}

}  // namespace parley::protocol
