#include "parley/protocol/sharing/sharing_owner.h"

#include <utility>

#include "parley/protocol/job.h"

namespace parley::protocol {
namespace {

Bytes bytes_of_words(std::span<const Word> words) {
  Bytes bytes;
  bytes.reserve(8 * words.size());
  for (const Word word : words) append_little_endian(bytes, word);
  return bytes;
}

Words<Word> words_in(ByteView bytes) {
  Words<Word> words(bytes.size() / 8);
  for (size_t i = 0; i < words.size(); ++i) words[i] = read_little_endian(bytes.data() + 8 * i);
  return words;
}

Bytes bytes_of_columns(const learn::IntegerRows& rows) {
  Bytes bytes;
  for (size_t i = 0; i < rows.size(); ++i) {
    append_little_endian(bytes, rows.at(i).size());
    for (const uint32_t at : rows.at(i)) append_little_endian(bytes, at);
    for (const int64_t value : rows.values(i)) append_little_endian(bytes, uint64_t(value));
  }
  return bytes;
}

Error out_of_order(const std::string& what) {
  return {Code::kIntegrity, what + ", which was not due",
          "The learner or another owner does not keep to the protocol."};
}

}  // namespace

SharingOwner::SharingOwner(SharingSetting setting, gate::ColumnsGate gate, Entropy& entropy,
                           std::optional<SigningKey> key)
    : Owner(gate.terms().charter, setting.owners[gate.owner()].name, std::move(key)),
      setting_(std::move(setting)),
      gate_(std::move(gate)),
      entropy_(entropy),
      agreement_(AgreementKey::draw(entropy)),
      descent_(gate_.terms().steps, gate_.columns().columns(), gate_.terms().plan.balls[self()]) {
  const Bytes labels = bytes_of(gate_.scores(descent_.point()));  // At zero: the labels, if any.
  Bytes data = bytes_of_columns(gate_.columns());
  data.insert(data.end(), labels.begin(), labels.end());
  columns_ = commitment("columns", data);
}

/// A digest that only this owner can make: others cannot try what they guess.
Hash SharingOwner::commitment(std::string_view what, ByteView bytes) const {
  const Hash digest = sha256(bytes);
  return derived(setting_.secret, TupleBytes().add(what).add(charter()).add(digest));
}

Bytes SharingOwner::connect() {
  agreement_ = AgreementKey::draw(entropy_);
  session_ = 0;
  outbox_.clear();
  return Owner::connect();
}

wire::Hello SharingOwner::greeting() {
  const Hash& key = agreement_.public_key();
  return {wire::kVersion, last_round(),
          wire::SharingHello{setting_.records, columns_, key,
                             sign(wire::signed_key(charter(), name(), key)), opened()}};
}

std::optional<Bytes> SharingOwner::more() {
  if (outbox_.empty()) return std::nullopt;
  Bytes next = std::move(outbox_.front());
  outbox_.pop_front();
  return next;
}

Result<size_t> SharingOwner::place_of(const std::string& name) const {
  for (size_t i = 0; i < parties(); ++i)
    if (setting_.owners[i].name == name && i != self()) return i;
  return Error{Code::kIntegrity, "a letter of '" + name + "', who is no other owner"};
}

// A session: keys, then everyone's masked columns.

Result<void> SharingOwner::agree(const wire::Session& session) {
  if (session.peers.size() != parties()) return out_of_order("a session of other owners");
  keys_.clear();
  masks_.clear();
  for (size_t i = 0; i < parties(); ++i) {
    const wire::Peer& peer = session.peers[i];
    const SharingPeer& known = setting_.owners[i];
    if (peer.owner != known.name) return out_of_order("a session with '" + peer.owner + "'");
    if (i == self()) {
      if (peer.key != agreement_.public_key()) return out_of_order("a session with an older key");
      continue;
    }
    const Bytes text = wire::signed_key(charter(), known.name, peer.key);
    if (known.sign_key && !(peer.signature && is_signed(*known.sign_key, text, *peer.signature)))
      return Error{
          Code::kIntegrity,
          "the key for letters to " + known.name + " was not signed by its sign_key in the charter",
          "Someone put another key in its place: do not go on, and ask who runs the "
          "learner."};
    keys_[i] = TRY(agreement_.agree(peer.key, "letters", charter()));
    masks_[i] = TRY(agreement_.agree(peer.key, "prediction", charter()));
  }
  return {};
}

Result<std::optional<Bytes>> SharingOwner::take(wire::Session session) {
  if (session.session <= session_ || session.first_round < 1 || session.first_round > opened() + 1)
    return out_of_order("session " + std::to_string(session.session) + " from round " +
                        std::to_string(session.first_round));
  TRY(agree(session));
  session_ = session.session;
  party_.emplace(gate_.columns(), self(), parties());
  return_to(session.first_round);
  share_.reset();
  incoming_.clear();
  masked_.clear();
  shares_.clear();
  begun_ = false;
  part_.reset();
  return std::optional<Bytes>();
}

/// To where this owner stood before that round.
void SharingOwner::return_to(uint32_t round) {
  const gate::SharingTerms& terms = gate_.terms();
  descent_ = learn::PartyDescent(terms.steps, gate_.columns().columns(), terms.plan.balls[self()]);
  const double unit = terms.plan.unit();
  for (uint32_t r = 1; r < round; ++r) {
    std::vector<double> gradient;
    for (const int64_t units : gradients_[r - 1])
      gradient.push_back(static_cast<double>(units) * unit);
    descent_.take(gradient, terms.plan.rows);
  }
  round_ = round;
}

void SharingOwner::post(size_t to, uint32_t round, const Bytes& message) {
  const wire::LetterHead head{
      .from = name(), .to = setting_.owners[to].name, .session = session_, .round = round};
  for (const wire::Sealed& letter :
       wire::seal_in_pieces(keys_.at(to), charter(), head, message, entropy_))
    outbox_.push_back(send(wire::Letter{letter, wire::Leg::kUp}));
}

Result<std::optional<Bytes>> SharingOwner::first_of_outbox() { return more(); }

Result<std::optional<Bytes>> SharingOwner::take(wire::DealerShare share) {
  if (share.session != session_ || !party_) return out_of_order("masks of another session");
  if (share.round == 0) {
    const Bytes masked = bytes_of_words(party_->setup(share.seed).words);
    for (const auto& [other, key] : keys_) post(other, 0, masked);
    if (round_ > gate_.terms().rounds) TRY(give_part());
    return first_of_outbox();
  }
  if (share.round != round_ || begun_ || share.correction.size() != gate_.columns().columns())
    return out_of_order("masks of round " + std::to_string(share.round));
  share_ = std::move(share);
  return begin_round();
}

// A round: pay, send masked scores and shares, then open what the others sent.

Result<std::optional<Bytes>> SharingOwner::begin_round() {
  if (!party_->is_set_up()) return out_of_order("a round before all masked columns");
  const auto sent = party_->begin_round(gate_.scores(descent_.point()),
                                        round_seeds(share_->seed, self(), parties()));
  const Bytes masked = bytes_of_words(sent.masked);
  auto paid = gate_.pay(round_, gate::sharing_question(charter(), round_, share_->seed),
                        commitment("scores", masked));
  if (!paid) return refuse(paid.error());
  begun_ = true;
  for (const auto& [other, share] : sent.shares) {
    Bytes letter = masked;
    const Bytes second = bytes_of_words(share);
    letter.insert(letter.end(), second.begin(), second.end());
    post(other, round_, letter);
  }
  // Last: when the learner has every receipt, it has passed on every letter.
  const auto signature = sign(wire::signed_bytes(charter(), name(), paid->receipt()));
  outbox_.push_back(send(wire::Answer{*std::move(paid), signature}));
  TRY(end_round());
  return first_of_outbox();
}

Result<std::optional<Bytes>> SharingOwner::take(wire::Sealed letter) {
  const wire::LetterHead& head = letter.head();
  if (head.session < session_) return std::optional<Bytes>();  // It crossed the new session.
  if (head.session != session_ || head.to != name() || !party_)
    return out_of_order("a letter of another session");
  const size_t from = TRY(place_of(head.from));
  Bytes& whole = incoming_[from];
  if (whole.size() != head.part * wire::kPieceBytesMax || (head.round != 0 && !share_) ||
      (head.round != 0 && head.round != share_->round))
    return out_of_order("a letter of " + head.from + " for round " + std::to_string(head.round));
  const Bytes piece = TRY(letter.open(keys_.at(from), charter()));
  whole.insert(whole.end(), piece.begin(), piece.end());
  if (head.part + 1 < head.parts) return std::optional<Bytes>();
  const Bytes message = std::exchange(whole, {});
  TRY(take_whole(from, head.round, message));
  if (head.round != 0) TRY(end_round());
  return first_of_outbox();
}

Result<void> SharingOwner::take_whole(size_t from, uint32_t round, const Bytes& message) {
  const gate::SharingTerms& terms = gate_.terms();
  const size_t rows = terms.plan.rows;
  const size_t due = round == 0 ? rows * terms.columns[from] : rows + gate_.columns().columns();
  if (message.size() != 8 * due || (round != 0 && masked_.contains(from)))
    return out_of_order("a letter of another length");
  Words<Word> words = words_in(message);
  if (round == 0) {
    party_->take_setup(from, {rows, terms.columns[from], std::move(words)});
    return {};
  }
  shares_[from] = {words.begin() + static_cast<long>(rows), words.end()};
  words.resize(rows);
  masked_[from] = std::move(words);
  return {};
}

/// Once everything is there: the noisy gradient, and the step that it leads to.
Result<void> SharingOwner::end_round() {
  if (!begun_ || masked_.size() + 1 < parties()) return {};
  const auto gradient = party_->end_round(share_->correction, masked_, shares_);
  if (round_ <= gradients_.size() && gradients_[round_ - 1] != gradient)
    return Error{Code::kIntegrity,
                 "round " + std::to_string(round_) + " came out differently when it was repeated",
                 "Another owner's data or program has changed: stop, and agree on another run."};
  if (round_ > gradients_.size()) gradients_.push_back(gradient);
  return_to(round_ + 1);
  begun_ = false;
  share_.reset();
  masked_.clear();
  shares_.clear();
  if (round_ > gate_.terms().rounds) TRY(give_part());
  return {};
}

// The end: this owner's part of the model stays here, its hash is told.

Result<std::optional<Bytes>> SharingOwner::give_part() {
  learn::PartOfModel part = setting_.part;
  part.model.theta = descent_.model();
  for (const auto& [other, key] : masks_) part.masks[setting_.owners[other].name] = key;
  part.salt = derived(setting_.secret, TupleBytes().add("salt").add(uint64_t{session_}));
  part_ = learn::to_json(part);
  if (setting_.keep) TRY(setting_.keep("part.json", *part_));
  outbox_.push_back(send(wire::ModelPart{name(), sha256(as_bytes(*part_))}));
  return std::optional<Bytes>();
}

Result<std::optional<Bytes>> SharingOwner::be_told(const wire::Finished& finished) {
  learn::Manifest manifest{.name = setting_.part.model.name, .charter = charter()};
  for (const wire::ModelPart& part : finished.parts)
    manifest.parts.push_back({part.owner, part.sha256});
  const std::string text = learn::to_json(manifest);
  const learn::Manifest::Part own{name(), part_ ? sha256(as_bytes(*part_)) : Hash{}};
  // Of a process that came back after the end, the part is on its disk.
  const bool bound = self() < manifest.parts.size() && (!part_ || manifest.parts[self()] == own);
  if (!bound || manifest.parts.size() != parties() || sha256(as_bytes(text)) != finished.model)
    return Error{Code::kIntegrity, "the learner's manifest does not bind this owner's part",
                 "Do not use the model, and ask who runs the learner."};
  if (setting_.keep) TRY(setting_.keep("manifest.json", text));
  return std::optional<Bytes>();
}

}  // namespace parley::protocol
