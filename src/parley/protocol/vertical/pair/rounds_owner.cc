#include "parley/protocol/vertical/pair/rounds_owner.h"

#include <algorithm>
#include <utility>

namespace parley::protocol {
namespace {

constexpr uint8_t kBits = 1, kWords = 2;  // letters that are remembered

std::vector<double> gradient_of(const plan::VerticalTerms& terms, const Opened& opened) {
  std::vector<double> gradient;
  for (const int64_t each : opened) gradient.push_back(static_cast<double>(each) * terms.unit());
  return gradient;
}

}  // namespace

RoundsOwner::RoundsOwner(VerticalSetting setting, gate::ColumnsGate gate, Entropy& entropy,
                         std::optional<SigningKey> key)
    : CellsOwner(std::move(setting), std::move(gate), entropy, std::move(key)) {}

// What is kept.

Result<void> RoundsOwner::recall(PairFiles::Found found) {
  if (!found.rounds) return {};
  TRY(files_.find_pools(*found.rounds, gate_.terms()));
  rounds_ = std::move(found.rounds);
  opened_ = rounds_->opened();
  return {};
}

Result<void> RoundsOwner::keep_tested(size_t other, const privacy::ToMask<ot::PairShare>& share,
                                      ot::Role role, const Hash& session) {
  if (!rounds_) rounds_.emplace(draw_secret(entropy_), draw_secret(entropy_));
  const Secret32 masks = TRY(agreement_.agree(session_keys_[other], "rounds", charter()));
  rounds_->add(other, share, role, session, masks, gate_.terms());
  return files_.pass_test(other, *rounds_);
}

Bytes RoundsOwner::standing() const {
  Bytes bytes;
  append_little_endian(bytes, done());
  return bytes;
}

Result<void> RoundsOwner::take_standing(size_t other, ByteView standing) {
  if (standing.size() != sizeof(uint64_t)) return out_of_order("a first letter of another length");
  const uint64_t theirs = read_little_endian(standing.data());
  if (theirs > uint64_t{done()} + 1 || theirs + 1 < done() || theirs > gate_.terms().rounds)
    return Error{Code::kIntegrity,
                 name_of(other) + " says that it has concluded " + std::to_string(theirs) +
                     " rounds, where this owner has " + std::to_string(done()),
                 "One of the two has an older session.json: put the last one back, or agree on "
                 "another run."};
  heard_[other].done = static_cast<uint32_t>(theirs);
  return {};
}

/// Receipts that the learner may have lost are given again.
Result<void> RoundsOwner::forget_session(uint32_t first_round) {
  heard_.clear();
  for (const size_t other : others()) heard_[other];
  round_ = 0;
  const uint32_t booked = gate_.last_round();
  if (booked > done() + 1 || booked < done())
    return Error{Code::kIntegrity,
                 "session.json stands at round " + std::to_string(done()) + ", the ledger at " +
                     std::to_string(booked),
                 "It is not the last session.json of this job: put that back, or agree on another "
                 "run, which is paid again."};
  for (uint32_t round = first_round; round <= done(); ++round)
    give_receipt(TRY(gate_.pay(round, gate::sharing_question(charter(), round, {}),
                               rounds_->paid()[round - 1])));
  return {};
}

// Rounds.

Result<void> RoundsOwner::begin_release() {
  uint32_t least = done();
  for (const auto& [other, heard] : heard_) least = std::min(least, heard.done);
  first_ = least + 1;
  const plan::VerticalTerms& terms = gate_.terms();
  descent_.emplace(terms.descent(self()));
  for (uint32_t round = 1; round < first_; ++round)
    descent_->take(gradient_of(terms, rounds_->opened()[round - 1]), terms.plan.rows);
  return begin_round(first_);
}

Result<void> RoundsOwner::begin_round(uint32_t round) {
  round_ = round;
  if (round > gate_.terms().rounds) {
    for (const size_t other : others()) hear_no_more(other);
    model_ = descent_->model();
    return give_part();
  }
  paid_ = sent_ = false;
  n_ = gate_.terms().grid->nearest(descent_->point());
  for (auto& [other, heard] : heard_) {
    heard.bits = std::exchange(heard.next_bits, std::nullopt);
    heard.words.reset();
    heard.sum.reset();
    say(other, rounds_->bits(gate_, other, round, n_));
  }
  return go_on();
}

/// The other's letters come in their order; its next letter 1 may come before this owner has
/// concluded.
Result<void> RoundsOwner::take_release(size_t from, const Bytes& letter) {
  Heard& heard = heard_.at(from);
  const uint32_t ahead = round_ == 0 ? 0 : heard.letters / 3 - (round_ - first_);
  switch (heard.letters++ % 3) {
    case 0:
      if (ahead > 1) return out_of_order("a letter of a round to come");
      (ahead == 1 || round_ == 0 ? heard.next_bits : heard.bits) = letter;
      break;
    case 1:
      if (ahead > 0 || round_ == 0) return out_of_order("a letter of a round to come");
      heard.words = letter;
      break;
    default:
      if (ahead > 0 || !paid_) return out_of_order("a letter of a round to come");
      heard.sum = letter;
  }
  return go_on();
}

bool RoundsOwner::all_have(std::optional<Bytes> Heard::* letter) const {
  return std::all_of(heard_.begin(), heard_.end(),
                     [&](const auto& heard) { return (heard.second.*letter).has_value(); });
}

Result<void> RoundsOwner::go_on() {
  if (round_ == 0) return {};
  if (!paid_ && all_have(&Heard::bits)) TRY(pay_and_answer());
  if (paid_ && !sent_ && all_have(&Heard::words)) TRY(release());
  if (sent_ && all_have(&Heard::sum)) return conclude();
  return {};
}

Error RoundsOwner::another_letter(size_t from) const {
  return {Code::kIntegrity,
          name_of(from) + " has written another letter of round " + std::to_string(round_) +
              " than before",
          "It has lost what it had, or tries to see what it should not: agree on another run, or "
          "do not."};
}

/// Everything that this owner's letters of the round follow from but letters 2, which add nothing
/// that is not this owner's coefficients.
Hash RoundsOwner::commitment_of_round() const {
  TupleBytes tuple;
  rounds_->name_of_round(tuple, round_, n_);
  tuple.add(columns_);
  for (const auto& [other, heard] : heard_) tuple.add(uint64_t{other}).add(*heard.bits);
  const Hash digest = tuple.sha256();
  return derived(setting_.secret, TupleBytes().add("round").add(charter()).add(digest));
}

Result<void> RoundsOwner::pay_and_answer() {
  for (auto& [other, heard] : heard_)
    if (!rounds_->hear(round_, other, kBits, *heard.bits)) return another_letter(other);
  std::map<size_t, Bytes> letters;
  for (auto& [other, heard] : heard_) {
    Rounds::Answer answer = TRY(rounds_->words(gate_, other, round_, *heard.bits));
    letters[other] = std::move(answer.letter);
    heard.off = std::move(answer.off);
  }
  const Hash commitment = commitment_of_round();
  auto paid = TRY(gate_.pay(round_, gate::sharing_question(charter(), round_, {}), commitment));
  rounds_->note_paid(round_, commitment);
  paid_ = true;
  for (const auto& [other, letter] : letters) say(other, letter);
  give_receipt(std::move(paid));
  return {};
}

Result<void> RoundsOwner::release() {
  std::map<size_t, Bytes> letters;
  for (auto& [other, heard] : heard_) {
    if (!rounds_->hear(round_, other, kWords, *heard.words)) return another_letter(other);
    letters[other] = TRY(rounds_->sum(gate_, other, round_, n_, *heard.words));
  }
  if (round_ > done()) TRY(files_.keep_rounds(*rounds_));
  for (const auto& [other, letter] : letters) say(other, letter);
  sent_ = true;
  return {};
}

Result<void> RoundsOwner::conclude() {
  std::map<size_t, Rounds::Heard> heard;
  for (auto& [other, each] : heard_) heard[other] = {*each.sum, each.off};
  Opened opened = TRY(rounds_->gradient(gate_, round_, n_, heard));
  if (round_ <= done()) {
    if (rounds_->opened()[round_ - 1] != opened) return mismatch_in(round_);
  } else {
    rounds_->conclude(opened);
    TRY(files_.keep_rounds(*rounds_));
    opened_.push_back(opened);
  }
  const plan::VerticalTerms& terms = gate_.terms();
  descent_->take(gradient_of(terms, opened), terms.plan.rows);
  return begin_round(round_ + 1);
}

}  // namespace parley::protocol
