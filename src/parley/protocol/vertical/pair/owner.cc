#include "parley/protocol/vertical/pair/owner.h"

#include <algorithm>
#include <utility>

namespace parley::protocol {
namespace {

constexpr std::string_view kReady = "all pairs have passed";

ByteView view(const Hash& hash) { return {hash.data(), hash.size()}; }

Error failed_test(const std::string& owner, const std::string& why) {
  return {Code::kIntegrity, "the test of rows with " + owner + " " + why,
          "It counts as failed. Ask what happened there; then agree on another run, or do not."};
}

}  // namespace

CellsOwner::CellsOwner(VerticalSetting setting, gate::ColumnsGate gate, Entropy& entropy,
                       std::optional<SigningKey> key)
    : VerticalOwner(std::move(setting), std::move(gate), entropy, std::move(key)),
      files_(setting_.keep, setting_.kept, setting_.secret, charter(), setting_.owners) {
  if (gate_.is_aligned()) get_ready();
}

void CellsOwner::get_ready() { columns_ = gate_.digest(setting_.secret); }

// Which records do all have?

Result<void> CellsOwner::begin_alignment() {
  const size_t own = gate_.ids().size();
  if (own > gate_.terms().list_max)
    return give_up({Code::kInvalid,
                    "holds " + std::to_string(own) + " records with an id, more than the " +
                        std::to_string(gate_.terms().list_max) + " that the charter allows",
                    "Agree on a charter with a larger records.list_max."});
  ids_ = id_search(gate_, parties(), setting_.secret, [this](size_t owner, const Hash& list) {
    return files_.keep_promise(owner, list);
  });
  return heard_of_ids(ids_->begin());
}

Result<void> CellsOwner::take_ids(size_t from, uint32_t number, const Bytes& letter) {
  if (!ids_) return out_of_order("a letter about ids");
  return heard_of_ids(ids_->take(from, number, letter));
}

Result<void> CellsOwner::take_common(const learn::IdDigests& tokens) {
  if (!ids_) return out_of_order("tokens of ids");
  return heard_of_ids(ids_->take_common(tokens));
}

Result<void> CellsOwner::heard_of_ids(Result<IdsSaid> said) {
  const auto taken = [&]() -> Result<void> {
    const IdsSaid now = TRY(std::move(said));
    for (const IdLetter& letter : now.letters) post(letter.to, letter.number, letter.bytes);
    if (now.tokens) post_tokens(*now.tokens);
    if (!ids_->is_done()) return {};
    TRY(gate_.align(ids_->common()));
    const Hash records = ids_->hash_of_common();
    ids_.reset();
    end_alignment(records);
    return {};
  }();
  if (taken) return {};
  ids_.reset();
  return give_up(taken.error());
}

// A session: every pair by itself, until all have passed.

/// Binds everything of the session to its charter and keys, which all owners have signed.
Hash CellsOwner::session_hash() const {
  TupleBytes tuple;
  tuple.add("parley columns 2").add(charter()).add(uint64_t{session_});
  for (size_t i = 0; i < parties(); ++i) tuple.add(name_of(i)).add(view(session_keys_[i]));
  return derived(charter(), tuple);
}

Result<void> CellsOwner::begin_session(uint32_t first_round) {
  if (!std::exchange(recalled_, true)) {
    PairFiles::Found found = TRY(files_.find());
    testing_ = found.begun;
    TRY(recall(std::move(found)));
  }
  pairs_.clear();
  ready_ = released_ = false;
  for (size_t i = 0; i < parties(); ++i)
    if (i != self()) pairs_[i];
  if (!testing_.empty())
    return end(
        failed_test(name_of(*testing_.begin()), "was begun, and broke off before its verdict"));
  if (kept_pairs() < pairs_.size() && gate_.last_round() > 0)
    return end({Code::kIntegrity,
                "this owner has paid for what it opens, and has not kept what that was",
                "Put session.json back, or agree on another run, which is paid again."});
  for (const auto& [other, pair] : pairs_) {
    const Hash session = kept_session(other);
    Bytes letter(session.begin(), session.end());
    const Bytes more = standing();
    letter.insert(letter.end(), more.begin(), more.end());
    say(other, letter);
  }
  const auto begun = forget_session(first_round);
  return begun ? begun : end(begun.error());
}

std::vector<size_t> CellsOwner::others() const {
  std::vector<size_t> others;
  for (const auto& [other, pair] : pairs_) others.push_back(other);
  return others;
}

bool CellsOwner::is_due(size_t from, const wire::LetterHead& head) const {
  const auto pair = pairs_.find(from);
  return pair != pairs_.end() && pair->second.due != Due::kNothing &&
         head.round == pair->second.heard + 1;
}

void CellsOwner::say_to_all(ByteView letter) {
  for (const auto& [other, pair] : pairs_) say(other, letter);
}

Result<void> CellsOwner::end(const Error& error) {
  for (auto& [other, pair] : pairs_) pair.due = Due::kNothing;
  return give_up(error);
}

Result<void> CellsOwner::take_letter(size_t from, uint32_t number, Bytes letter) {
  pairs_.at(from).heard = number;
  const auto taken = heard(from, letter);
  return taken ? Result<void>() : end(taken.error());
}

Result<void> CellsOwner::heard(size_t from, const Bytes& letter) {
  Pair& pair = pairs_.at(from);
  switch (pair.due) {
    case Due::kStanding:
      return begin(from, letter);
    case Due::kSetUp:
      if (const auto taken = pair.setup->take(letter); !taken)
        return pair.setup->test_begun()
                   ? failed_test(name_of(from),
                                 "failed: one of the two has not kept to the protocol")
                   : taken.error();
      return set_up(from);
    case Due::kReady:
      if (!std::ranges::equal(letter, as_bytes(kReady)))
        return out_of_order("a letter that is none");
      pair.due = Due::kRelease;
      return release_if_all_are_ready();
    case Due::kRelease:
      return take_release(from, letter);
    case Due::kNothing:
      break;
  }
  return out_of_order("a letter after the end");
}

Result<void> CellsOwner::take_standing(size_t, ByteView standing) {
  return standing.empty() ? Result<void>() : out_of_order("a first letter of another length");
}

Result<void> CellsOwner::begin(size_t other, const Bytes& their_standing) {
  const Hash kept = kept_session(other);
  const ByteView theirs(their_standing);
  if (theirs.size() < kept.size() || !std::ranges::equal(theirs.first(kept.size()), kept))
    return Error{Code::kIntegrity,
                 "this owner and " + name_of(other) +
                     " have not kept the same session: one of the "
                     "two has lost what it had, or broke off in the test of rows",
                 "Put session.json back where it is gone, or agree on another run."};
  TRY(take_standing(other, theirs.subspan(kept.size())));
  Pair& pair = pairs_.at(other);
  if (kept != Hash{}) {
    pair.due = Due::kReady;
    return be_ready();
  }
  const ot::PairPlan plan = pair_plan(gate_.terms(), {self(), other}, session_hash());
  pair.setup.emplace(plan, role_in(plan, self()), gate_.leaves(), entropy_);
  pair.due = Due::kSetUp;
  return set_up(other);
}

/// Nothing of the test leaves before it is on disk that it has begun, nor the last letter before
/// what it allows to open is.
Result<void> CellsOwner::set_up(size_t other) {
  Pair& pair = pairs_.at(other);
  const std::vector<Bytes> letters = pair.setup->write();
  if (pair.setup->test_begun() && testing_.insert(other).second)
    TRY(files_.begin_test(other, session_hash()));
  const bool passed = pair.setup->is_done();
  if (passed) {
    const ot::PairPlan plan = pair_plan(gate_.terms(), {self(), other}, session_hash());
    TRY(keep_tested(other, pair.setup->share(), role_in(plan, self()), session_hash()));
    pair.setup.reset();
    pair.due = Due::kReady;
    testing_.erase(other);
  }
  for (const Bytes& letter : letters) say(other, letter);
  return passed ? be_ready() : Result<void>();
}

// All pairs have passed.

/// Tells all others, once, when no set-up of this owner is left.
Result<void> CellsOwner::be_ready() {
  const bool all = std::all_of(pairs_.begin(), pairs_.end(), [](const auto& pair) {
    return pair.second.due != Due::kStanding && pair.second.due != Due::kSetUp;
  });
  if (!all || std::exchange(ready_, true)) return {};
  say_to_all(as_bytes(kReady));
  return release_if_all_are_ready();
}

Result<void> CellsOwner::release_if_all_are_ready() {
  const bool all = std::none_of(pairs_.begin(), pairs_.end(),
                                [](const auto& pair) { return pair.second.due < Due::kRelease; });
  if (!ready_ || !all || std::exchange(released_, true)) return {};
  return begin_release();
}

}  // namespace parley::protocol
