#include "parley/protocol/vertical/pair/moments_owner.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "parley/learn/vertical/joint_moments.h"

namespace parley::protocol {

MomentsOwner::MomentsOwner(VerticalSetting setting, gate::ColumnsGate gate, Entropy& entropy,
                           std::optional<SigningKey> key)
    : CellsOwner(std::move(setting), std::move(gate), entropy, std::move(key)) {}

Result<void> MomentsOwner::recall(PairFiles::Found found) {
  opening_ = std::move(found.opening);
  if (found.opened) opened_ = {*std::move(found.opened)};
  return {};
}

Hash MomentsOwner::kept_session(size_t other) const {
  return opening_ ? opening_->session(other) : Hash{};
}

Result<void> MomentsOwner::keep_tested(size_t other, const privacy::ToMask<ot::PairShare>& share,
                                       ot::Role role, const Hash& session) {
  if (!opening_) opening_.emplace(draw_secret(entropy_));
  opening_->add(other, share, role, session);
  return files_.pass_test(other, *opening_);
}

Result<void> MomentsOwner::forget_session(uint32_t) {
  heard_.clear();
  for (const size_t other : others()) heard_[other];
  compared_ = false;
  own_.clear();
  return {};
}

/// Pays, then sends. The same again costs nothing, and anything else is refused.
Result<void> MomentsOwner::begin_release() {
  own_ = opening_->letter(gate_);
  std::vector<Post> posts;
  for (const size_t other : others()) posts.push_back({other, own_});
  auto paid = TRY(gate_.pay(1, gate::sharing_question(charter(), 1, {}), commitment(posts)));
  say_to_all(bytes_of_words(own_));
  give_receipt(std::move(paid));
  return combine_if_all_are_here();
}

Result<void> MomentsOwner::take_release(size_t from, const Bytes& letter) {
  Heard& heard = heard_.at(from);
  if (++heard.letters == 1) {
    if (letter.size() % sizeof(Word) != 0) return out_of_order("moments of another length");
    heard.moments = words_in(letter);
    return combine_if_all_are_here();
  }
  heard.hash = letter;
  hear_no_more(from);
  return conclude_if_all_agree();
}

bool MomentsOwner::all_have_sent(uint32_t letters) const {
  return std::all_of(heard_.begin(), heard_.end(),
                     [&](const auto& heard) { return heard.second.letters >= letters; });
}

Result<void> MomentsOwner::combine_if_all_are_here() {
  if (!all_have_sent(1) || own_.empty() || compared_) return {};
  std::vector<Words<Word>> letters(parties());
  for (size_t i = 0; i < parties(); ++i) letters[i] = i == self() ? own_ : heard_.at(i).moments;
  auto opened = TRY(opened_from(gate_.terms(), letters));
  if (!opened_.empty() && opened_[0] != opened) return mismatch_in(1);
  TRY(files_.keep_opened(*opening_, opened));
  opened_ = {std::move(opened)};
  compared_ = true;
  const Hash hash = hash_of_opened();
  say_to_all({hash.data(), hash.size()});
  return conclude_if_all_agree();
}

Hash MomentsOwner::hash_of_opened() const {
  return TupleBytes().add("opened").add(charter()).add(bytes_of(opened_[0])).sha256();
}

/// All have the same numbers: each fits the whole model and keeps its part.
Result<void> MomentsOwner::conclude_if_all_agree() {
  if (!compared_) return {};
  for (const auto& [other, heard] : heard_)
    if (heard.letters == 2 && !std::ranges::equal(heard.hash, hash_of_opened()))
      return Error{Code::kIntegrity, name_of(other) + " has opened other numbers than this owner"};
  if (!all_have_sent(2)) return {};
  const plan::VerticalTerms& terms = gate_.terms();
  const learn::MomentsLayout layout(terms.columns, terms.label_holder);
  const auto theta = learn::fit_moments(layout, terms.plan, terms.fit(), opened_[0]);
  const auto before = terms.columns.begin() + long(self());
  const auto first = theta.begin() + long(std::accumulate(terms.columns.begin(), before, size_t{}));
  model_.assign(first, first + long(gate_.width()));
  return give_part();
}

}  // namespace parley::protocol
