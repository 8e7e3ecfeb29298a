#include "parley/protocol/vertical/pair/owner.h"

#include <algorithm>
#include <utility>

#include "parley/learn/vertical/joint_moments.h"

namespace parley::protocol {
namespace {

ByteView view(const Hash& hash) { return {hash.data(), hash.size()}; }

Error failed_test(const std::string& owner, const std::string& why) {
  return {Code::kIntegrity, "the test of rows with " + owner + " " + why,
          "It counts as failed. Ask what happened there; then agree on another run, or do not."};
}

}  // namespace

PairOwner::PairOwner(VerticalSetting setting, gate::ColumnsGate gate, Entropy& entropy,
                     std::optional<SigningKey> key)
    : VerticalOwner(std::move(setting), std::move(gate), entropy, std::move(key)),
      files_(setting_.keep, setting_.kept, setting_.secret, charter()) {
  check(parties() == 2);
  if (gate_.is_aligned()) get_ready();
}

void PairOwner::get_ready() { columns_ = gate_.digest(setting_.secret); }

// Which records do both have?

Result<void> PairOwner::begin_alignment() {
  const size_t own = gate_.ids().size();
  if (own > gate_.terms().list_max)
    return give_up({Code::kInvalid,
                    "holds " + std::to_string(own) + " records with an id, more than the " +
                        std::to_string(gate_.terms().list_max) + " that the charter allows",
                    "Agree on a charter with a larger records.list_max."});
  ids_.emplace(charter(), static_cast<uint32_t>(self()), gate_.ids(), setting_.secret);
  heard_of_ids_ = 0;
  post(other(), 1, ids_->commitment());
  return {};
}

Result<void> PairOwner::take_ids(size_t, uint32_t number, const Bytes& letter) {
  if (!ids_ || number != heard_of_ids_ + 1) return out_of_order("a letter about ids");
  heard_of_ids_ = number;
  if (const auto taken = heard_of_ids(number, letter); !taken) {
    ids_.reset();
    return give_up(taken.error());
  }
  return {};
}

Result<void> PairOwner::heard_of_ids(uint32_t number, const Bytes& letter) {
  switch (number) {
    case 1:
      TRY(ids_->take_commitment(letter));
      TRY(files_.keep_promise(peer(), ids_->promised()));
      post(other(), 2, ids_->list());
      return {};
    case 2:
      post(other(), 3, TRY(ids_->take_list(letter, gate_.terms().list_max)));
      return {};
    case 3:
      TRY(ids_->take_answer(letter));
      post(other(), 4, view(ids_->hash_of_common()));
      return {};
    default:
      break;
  }
  TRY(ids_->take_hash(letter));
  TRY(gate_.align(ids_->common()));
  const Hash records = ids_->hash_of_common();
  ids_.reset();
  end_alignment(records);
  return {};
}

/// Binds everything of the session to its charter and keys, which both owners have signed.
Hash PairOwner::session_hash() const {
  TupleBytes tuple;
  tuple.add("parley columns 2").add(charter()).add(uint64_t{session_});
  for (size_t i = 0; i < parties(); ++i)
    tuple.add(setting_.owners[i].name).add(view(session_keys_[i]));
  return derived(charter(), tuple);
}

/// What was kept by an earlier process, once.
Result<void> PairOwner::recall() {
  if (std::exchange(recalled_, true)) return {};
  auto found = TRY(files_.find());
  opening_ = std::move(found.opening);
  testing_ = found.test_begun;
  if (found.opened) opened_ = {*std::move(found.opened)};
  return {};
}

Result<void> PairOwner::begin_session(uint32_t) {
  TRY(recall());
  setup_.reset();
  said_ = heard_ = 0;
  stage_ = Stage::kStanding;
  if (testing_)
    return give_up(failed_test(peer().name, "was begun, and broke off before its verdict"));
  if (!opening_ && gate_.last_round() > 0)
    return give_up({Code::kIntegrity,
                    "this owner has paid for what it opens, and has not kept what that was",
                    "Put session.json back, or agree on another run, which is paid again."});
  say(view(standing()));
  return {};
}

/// The session whose shares it has kept; none before.
Hash PairOwner::standing() const { return opening_ ? opening_->session() : Hash{}; }

bool PairOwner::is_due(size_t, const wire::LetterHead& head) const {
  return stage_ != Stage::kEnded && head.round == heard_ + 1;
}

Result<void> PairOwner::take_letter(size_t, uint32_t number, Bytes letter) {
  heard_ = number;
  if (const auto taken = heard(letter); !taken) {
    stage_ = Stage::kEnded;
    return give_up(taken.error());
  }
  return {};
}

Result<void> PairOwner::heard(const Bytes& letter) {
  switch (stage_) {
    case Stage::kStanding:
      return begin(letter);
    case Stage::kSetUp:
      if (const auto taken = setup_->take(letter); !taken)
        return setup_->test_begun() ? failed_test(peer().name,
                                                  "failed: one of the two has not "
                                                  "kept to the protocol")
                                    : taken.error();
      return set_up();
    case Stage::kOpening:
      return take_moments(letter);
    case Stage::kComparing:
      return conclude(letter);
    case Stage::kEnded:
      break;
  }
  return out_of_order("a letter after the end");
}

Result<void> PairOwner::begin(const Bytes& their_standing) {
  const Hash own = standing();
  if (!std::ranges::equal(their_standing, own))
    return Error{Code::kIntegrity,
                 "this owner and " + peer().name +
                     " have not kept the same session: one of the "
                     "two has lost what it had, or broke off in the test of rows",
                 "Put session.json back where it is gone, or agree on another run."};
  if (opening_) return open();
  const ot::PairPlan plan = pair_plan(gate_.terms(), session_hash());
  setup_.emplace(plan, role_in(plan, self()), gate_.leaves(), entropy_);
  stage_ = Stage::kSetUp;
  return set_up();
}

/// Nothing of the test leaves before it is on disk that it has begun, nor the last letter before
/// what it allows to open is.
Result<void> PairOwner::set_up() {
  const std::vector<Bytes> letters = setup_->write();
  if (setup_->test_begun() && !std::exchange(testing_, true))
    TRY(files_.begin_test(peer(), session_hash()));
  if (setup_->is_done()) {
    const ot::PairPlan plan = pair_plan(gate_.terms(), session_hash());
    opening_.emplace(setup_->share(), role_in(plan, self()), session_hash(), draw_secret(entropy_));
    setup_.reset();
    TRY(files_.pass_test(peer(), *opening_));
    testing_ = false;
  }
  for (const Bytes& letter : letters) say(letter);
  return opening_ ? open() : Result<void>();
}

/// Pays, then sends. The same again costs nothing, and anything else is refused.
Result<void> PairOwner::open() {
  stage_ = Stage::kOpening;
  own_ = opening_->letter(gate_);
  auto paid = TRY(
      gate_.pay(1, gate::sharing_question(charter(), 1, {}), commitment({Post{other(), own_}})));
  say(bytes_of_words(own_));
  give_receipt(std::move(paid));
  return {};
}

Result<void> PairOwner::take_moments(const Bytes& letter) {
  if (letter.size() % sizeof(Word) != 0) return out_of_order("moments of another length");
  const Words<Word> theirs = words_in(letter);
  const bool first = self() == 0;
  auto opened = TRY(opened_from(gate_.terms(), first ? own_ : theirs, first ? theirs : own_));
  if (!opened_.empty() && opened_[0] != opened) return mismatch_in(1);
  TRY(files_.keep_opened(*opening_, opened));
  opened_ = {std::move(opened)};
  stage_ = Stage::kComparing;
  say(view(hash_of_opened()));
  return {};
}

Hash PairOwner::hash_of_opened() const {
  return TupleBytes().add("opened").add(charter()).add(bytes_of(opened_[0])).sha256();
}

/// Both have the same numbers: each fits the whole model and keeps its part.
Result<void> PairOwner::conclude(const Bytes& their_hash) {
  if (!std::ranges::equal(their_hash, hash_of_opened()))
    return Error{Code::kIntegrity, peer().name + " has opened other numbers than this owner"};
  const plan::VerticalTerms& terms = gate_.terms();
  const learn::MomentsLayout layout(terms.columns, terms.label_holder);
  const auto theta = learn::fit_moments(layout, terms.plan, terms.fit(), opened_[0]);
  const auto first = theta.begin() + (self() == 0 ? 0 : long(terms.columns[0]));
  model_.assign(first, first + long(gate_.width()));
  stage_ = Stage::kEnded;
  return give_part();
}

}  // namespace parley::protocol
