#include "parley/protocol/vertical/owner.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "parley/base/printable.h"
#include "parley/protocol/job.h"

namespace parley::protocol {

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

VerticalOwner::VerticalOwner(VerticalSetting setting, gate::ColumnsGate gate, Entropy& entropy,
                             std::optional<SigningKey> key)
    : Owner(gate.terms().charter, setting.owners[gate.owner()].name, std::move(key)),
      setting_(std::move(setting)),
      gate_(std::move(gate)),
      entropy_(entropy),
      agreement_(AgreementKey::draw(entropy)) {}

Hash VerticalOwner::commitment(const std::vector<Post>& posts) const {
  TupleBytes tuple;
  for (const Post& each : posts) tuple.add(uint64_t{each.to}).add(bytes_of_words(each.words));
  const Hash digest = tuple.sha256();
  return derived(setting_.secret, TupleBytes().add("posts").add(charter()).add(digest));
}

Bytes VerticalOwner::connect() {
  agreement_ = AgreementKey::draw(entropy_);
  session_ = 0;
  aligning_ = gave_up_ = false;
  outbox_.clear();
  return Owner::connect();
}

wire::Hello VerticalOwner::greeting() {
  const Hash& key = agreement_.public_key();
  return {wire::kVersion, last_round(),
          wire::VerticalHello{setting_.records, columns_, key,
                              sign(wire::signed_key(charter(), name(), key)),
                              static_cast<uint32_t>(opened_.size()), session_}};
}

std::optional<Bytes> VerticalOwner::more() {
  if (outbox_.empty()) return std::nullopt;
  Bytes next = std::move(outbox_.front());
  outbox_.pop_front();
  return next;
}

Result<size_t> VerticalOwner::place_of(const std::string& name) const {
  for (size_t i = 0; i < parties(); ++i)
    if (setting_.owners[i].name == name && i != self()) return i;
  return Error{Code::kIntegrity, "a letter of " + in_quotes(name) + ", who is no other owner"};
}

void VerticalOwner::give_receipt(privacy::Released paid) {
  const auto signature = sign(wire::signed_bytes(charter(), name(), paid.receipt()));
  outbox_.push_back(send(wire::Answer{std::move(paid), signature}));
}

Result<void> VerticalOwner::give_up(const Error& error) {
  gave_up_ = true;
  if (auto reason = TRY(refuse(error))) outbox_.push_back(*std::move(reason));
  return {};
}

// A session: keys, then what everyone must have before the first round.

Result<void> VerticalOwner::agree(const wire::Session& session) {
  if (session.peers.size() != parties()) return out_of_order("a session of other owners");
  keys_.clear();
  masks_.clear();
  session_keys_.clear();
  for (size_t i = 0; i < parties(); ++i) {
    const wire::Peer& peer = session.peers[i];
    const VerticalPeer& known = setting_.owners[i];
    if (peer.owner != known.name) return out_of_order("a session with " + in_quotes(peer.owner));
    session_keys_.push_back(peer.key);
    if (i == self()) {
      if (peer.key != agreement_.public_key()) return out_of_order("a session with an older key");
      continue;
    }
    const Bytes text = wire::signed_key(charter(), known.name, peer.key);
    const bool vouched =
        known.sign_key && peer.signature && is_signed(*known.sign_key, text, *peer.signature);
    if (!vouched && !(setting_.simulated && !known.sign_key))
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

// Finding out which records all have. Whoever has others leaves them out.

Result<void> VerticalOwner::begin_alignment() {
  ids_.clear();
  const Bytes list = learn::bytes_of(gate_.ids());
  for (const auto& [other, key] : keys_) post(other, 0, list);
  return {};
}

void VerticalOwner::end_alignment(const Hash& records) {
  aligning_ = false;
  setting_.records = records;
  get_ready();
  outbox_.push_back(send(greeting()));
}

Result<void> VerticalOwner::take_ids(size_t from, uint32_t, const Bytes& list) {
  auto ids = learn::digests_in(list);
  if (ids_.contains(from) || !ids) return out_of_order("a list of ids that is none");
  ids_[from] = *std::move(ids);
  if (ids_.size() + 1 < parties()) return {};
  std::vector<std::vector<learn::IdDigest>> lists;
  for (auto& [other, digests] : ids_) lists.push_back(std::move(digests));
  const auto records = gate_.align(lists);
  if (!records) return give_up(records.error());
  end_alignment(*records);
  return {};
}

void VerticalOwner::post_tokens(const learn::IdDigests& tokens) {
  for (const wire::IdTokens& piece : wire::in_pieces(session_, learn::bytes_of(tokens)))
    outbox_.push_back(send(wire::TokensOfIds{piece, wire::Leg::kUp}));
}

Result<void> VerticalOwner::take_common(const learn::IdDigests&) {
  return out_of_order("tokens of ids, which this charter does not use");
}

Result<std::optional<Bytes>> VerticalOwner::take(wire::IdTokens piece) {
  if (gave_up_ || piece.session < session_) return std::optional<Bytes>();  // Of one that is over.
  const size_t most = gate_.ids().size() * wire::kTokenBytes;
  if (!aligning_ || piece.session != session_ ||
      tokens_.size() != piece.part * wire::kPieceBytesMax ||
      tokens_.size() + piece.tokens.size() > most)
    return out_of_order("tokens of ids");
  tokens_.insert(tokens_.end(), piece.tokens.begin(), piece.tokens.end());
  if (piece.part + 1 < piece.parts) return std::optional<Bytes>();
  const auto tokens = learn::digests_in(std::exchange(tokens_, {}));
  if (!tokens) return out_of_order("tokens of ids that do not rise");
  TRY(take_common(*tokens));
  return more();
}

Result<std::optional<Bytes>> VerticalOwner::take(wire::Session session) {
  const bool to_align = session.first_round == 0 && gate_.has_to_align();
  const bool in_order = to_align || (columns_ != Hash{} && session.first_round >= 1 &&
                                     session.first_round <= opened_.size() + 1);
  if (session.session <= session_ || !in_order)
    return out_of_order("session " + std::to_string(session.session) + " from round " +
                        std::to_string(session.first_round));
  TRY(agree(session));
  session_ = session.session;
  incoming_.clear();
  tokens_.clear();
  aligning_ = false;
  if (to_align) {
    aligning_ = true;
    TRY(begin_alignment());
    return more();
  }
  part_.reset();
  TRY(begin_session(session.first_round));
  return more();
}

void VerticalOwner::post(size_t to, uint32_t number, ByteView letter) {
  const wire::LetterHead head{
      .from = name(), .to = setting_.owners[to].name, .session = session_, .round = number};
  for (const wire::Sealed& piece :
       wire::seal_in_pieces(keys_.at(to), charter(), head, letter, entropy_))
    outbox_.push_back(send(wire::Letter{piece, wire::Leg::kUp}));
}

Result<std::optional<Bytes>> VerticalOwner::take(wire::Sealed letter) {
  const wire::LetterHead& head = letter.head();
  if (gave_up_ || head.session < session_) return std::optional<Bytes>();  // Of one that is over.
  if (head.session != session_ || head.to != name() || session_ == 0)
    return out_of_order("a letter of another session");
  const size_t from = TRY(place_of(head.from));
  Bytes& whole = incoming_[from];
  if (whole.size() != head.part * wire::kPieceBytesMax || !(aligning_ || is_due(from, head)))
    return out_of_order("a letter of " + head.from + " for round " + std::to_string(head.round));
  const Bytes piece = TRY(letter.open(keys_.at(from), charter()));
  whole.insert(whole.end(), piece.begin(), piece.end());
  if (head.part + 1 < head.parts) return std::optional<Bytes>();
  Bytes complete = std::exchange(whole, {});
  if (aligning_)
    TRY(take_ids(from, head.round, complete));
  else
    TRY(take_letter(from, head.round, std::move(complete)));
  return more();
}

Error VerticalOwner::mismatch_in(uint32_t round) const {
  return {Code::kIntegrity,
          "round " + std::to_string(round) + " came out differently when it was repeated",
          "Another owner's data or program has changed: stop, and agree on another run."};
}

// The end: this owner's part of the model stays here, its hash is told.

Result<void> VerticalOwner::give_part() {
  learn::PartOfModel part = setting_.part;
  part.model.theta = model();
  for (const auto& [other, key] : masks_) part.masks[setting_.owners[other].name] = key;
  part.salt = derived(setting_.secret, TupleBytes().add("salt").add(uint64_t{session_}));
  part_ = learn::to_json(part);
  if (setting_.keep) TRY(setting_.keep("part.json", *part_));
  outbox_.push_back(send(wire::ModelPart{name(), sha256(as_bytes(*part_)), session_}));
  return {};
}

/// Of a process that came back after the end, the part is on its disk.
Result<Hash> VerticalOwner::own_part() const {
  if (part_) return sha256(as_bytes(*part_));
  const std::string kept = setting_.kept ? TRY(setting_.kept("part.json")) : std::string();
  if (kept.empty())
    return Error{Code::kIntegrity, "the job has ended, and this owner has no part of the model"};
  return sha256(as_bytes(kept));
}

Result<std::optional<Bytes>> VerticalOwner::be_told(const wire::Finished& finished) {
  learn::Manifest manifest{.name = setting_.part.model.name, .charter = charter()};
  for (const wire::ModelPart& part : finished.parts)
    manifest.parts.push_back({part.owner, part.sha256});
  const std::string text = learn::to_json(manifest);
  const learn::Manifest::Part own{name(), TRY(own_part())};
  const bool bound = self() < manifest.parts.size() && manifest.parts[self()] == own;
  if (!bound || manifest.parts.size() != parties() || sha256(as_bytes(text)) != finished.model)
    return Error{Code::kIntegrity, "the learner's manifest does not bind this owner's part",
                 "Do not use the model, and ask who runs the learner."};
  if (setting_.keep) TRY(setting_.keep("manifest.json", text));
  TRY(forget());
  return std::optional<Bytes>();
}

}  // namespace parley::protocol
