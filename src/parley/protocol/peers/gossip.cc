#include "parley/protocol/peers/gossip.h"

#include <algorithm>

namespace parley::protocol {

using privacy::ReleaseKind;

GossipNode::GossipNode(SyncPlan plan, Place place, gate::Gate gate, std::optional<SigningKey> key)
    : plan_(plan),
      place_(std::move(place)),
      gate_(std::move(gate)),
      key_(std::move(key)),
      learner_(std::move(plan)),
      remembered_(plan_.owners.size()),
      welcomed_(plan_.owners.size()),
      done_(plan_.owners.size()) {}

std::optional<size_t> GossipNode::place_of(const std::string& owner) const {
  for (size_t i = 0; i < plan_.owners.size(); ++i)
    if (plan_.owners[i].name == owner) return i;
  return std::nullopt;
}

GossipNode::Answers& GossipNode::held(const Key& key) {
  Answers& answers = held_[key];
  answers.resize(plan_.owners.size());
  return answers;
}

wire::Gossip GossipNode::standing() const {
  return {.charter = plan_.charter, .round = due().round, .kind = due().kind, .refused = refused_};
}

std::optional<Error> GossipNode::refused() const {
  if (!refused_) return std::nullopt;
  return Error{refused_->refusal.code, refused_->owner + " refused: " + refused_->refusal.text};
}

Result<void> GossipNode::restore(const wire::Transcript& journal) {
  for (const wire::Entry& entry : journal.entries) {
    const size_t owner = TRY(protocol::place_of(plan_.owners, entry.owner));
    const wire::Relayed relayed = wire::Relayed::kept(entry);
    TRY(check_answer(relayed, owner));
    if (owner == place_.self) TRY(gate_.recognise(plan_.charter, entry.answer.receipt));
    const Key key{entry.answer.receipt.kind, entry.answer.round};
    held(key)[owner] = relayed;
    ++count_;
    const Key before = now();
    TRY(learner_.replay(entry.owner, entry.answer));
    if (now() != before) completed_.push_back(before);
  }
  return {};
}

Result<std::vector<Whisper>> GossipNode::start() { return advance(hello({})); }

/// To all that have not welcomed it.
std::vector<Whisper> GossipNode::hello(std::vector<Whisper> out) const {
  wire::Gossip gossip = standing();
  gossip.hello = wire::kVersion;
  const Bytes message = encode(gossip);
  for (size_t neighbour : place_.neighbours)
    if (!welcomed_[neighbour]) out.push_back({neighbour, message});
  return out;
}

bool GossipNode::is_welcome() const {
  return std::all_of(place_.neighbours.begin(), place_.neighbours.end(),
                     [&](size_t neighbour) { return welcomed_[neighbour]; });
}

bool GossipNode::may_leave() const {
  return finished() && std::all_of(place_.neighbours.begin(), place_.neighbours.end(),
                                   [&](size_t neighbour) { return done_[neighbour]; });
}

bool GossipNode::is_at_the_end(const wire::Gossip& gossip) const {
  return gossip.kind == ReleaseKind::kAnswer && gossip.round > plan_.schedule.rounds.size();
}

/// Then it holds all that is missing here, and has sent it: on a line that broke.
bool GossipNode::is_ahead(const wire::Gossip& gossip) const {
  return !finished() && (is_at_the_end(gossip) || Key{gossip.kind, gossip.round} > now());
}

std::optional<wire::Proof> GossipNode::newest(size_t owner) const {
  const wire::Relayed* newest = nullptr;
  for (const auto& [key, answers] : held_)  // Evaluations come last, as in time.
    if (answers[owner]) newest = &*answers[owner];
  if (newest == nullptr || !newest->answer().signature) return std::nullopt;
  return wire::Proof{plan_.charter, newest->answer().receipt, *newest->answer().signature};
}

std::vector<wire::Entry> GossipNode::completed(size_t which) const {
  std::vector<wire::Entry> entries;
  for (const auto& place : held_.at(completed_[which]))
    entries.push_back({place->owner(), place->answer()});
  return entries;
}

/// A process that has begun is shown what it has signed; when all have shown it, it may pay.
Result<void> GossipNode::greet(size_t from, const wire::Gossip& gossip, std::vector<Whisper>& out) {
  if (gossip.hello != 0) {
    TRY(check_version(gossip.hello));
    done_[from] = false;  // Unless it says so in this message.
    wire::Gossip welcome = standing();
    welcome.welcome = wire::kVersion;
    for (const auto& proof : {remembered_[from], newest(from)})
      if (proof) welcome.proofs.push_back(*proof);
    out.push_back({from, encode(welcome)});
  }
  if (gossip.welcome == 0) return {};
  TRY(check_version(gossip.welcome));
  for (const wire::Proof& proof : gossip.proofs) TRY(recognise(proof));
  welcomed_[from] = true;
  return {};
}

Result<void> GossipNode::recognise(const wire::Proof& proof) {
  if (!key_) return {};
  const std::string& name = plan_.owners[place_.self].name;
  if (!is_signed(key_->public_key(), wire::signed_bytes(proof.charter, name, proof.receipt),
                 proof.signature))
    return Error{Code::kIntegrity, "a neighbour shows a receipt that this owner did not sign",
                 "Ask who runs it."};
  const auto known = gate_.recognise(proof.charter, proof.receipt);
  if (!known) stopped_ = known.error();
  return known;
}

Result<std::vector<Whisper>> GossipNode::step(size_t from, ByteView message) {
  const wire::Gossip gossip = TRY(wire::decode_gossip(message));
  if (gossip.charter != plan_.charter)
    return Error{Code::kIntegrity, "a message of charter " + to_hex(gossip.charter) +
                                       " arrived in a job of charter " + to_hex(plan_.charter)};
  if (refused_ && gossip.refused) return std::vector<Whisper>();
  if (refused_) return std::vector<Whisper>{{from, encode(standing())}};  // It has not heard.
  if (gossip.refused) return refuse(*gossip.refused, from);
  std::vector<Whisper> out;
  TRY(greet(from, gossip, out));
  done_[from] = done_[from] || is_at_the_end(gossip);
  if (gossip.answer) TRY(take(from, *gossip.answer, out));
  supply(from, gossip, out);
  const Key before = now();
  out = TRY(advance(std::move(out)));
  if (is_ahead(gossip) && (!gossip.answer || now() != before))
    out.push_back({from, encode(wish())});
  return out;
}

/// By whoever it came: an owner of the charter gave it, and these are its numbers.
Result<void> GossipNode::check_answer(const wire::Relayed& relayed, size_t owner) const {
  const wire::ReceivedAnswer& answer = relayed.answer();
  const auto wrong = [&](const std::string& what) {
    return Error{Code::kIntegrity, "an answer of " + relayed.owner() + " " + what,
                 "A neighbour changed it, or does not run this version."};
  };
  const bool evaluation = answer.receipt.kind == ReleaseKind::kEvaluation;
  const size_t rounds = evaluation ? (plan_.evaluation ? 1 : 0) : plan_.schedule.rounds.size();
  if ((answer.receipt.kind != ReleaseKind::kAnswer && !evaluation) || answer.round < 1 ||
      answer.round > rounds || answer.receipt.round != answer.round)
    return wrong("is to a round that the charter does not have");
  if (answer.values.size() != (evaluation ? plan_.evaluation->size() : plan_.numbers()))
    return wrong("has another length than the charter's");
  if (answer.receipt.answer != sha256(bytes_of(answer.values)))
    return wrong("has other numbers than its receipt");
  const auto& key = plan_.owners[owner].sign_key;
  if (!key) return {};
  const Bytes bytes = wire::signed_bytes(plan_.charter, relayed.owner(), answer.receipt);
  if (!answer.signature || !is_signed(*key, bytes, *answer.signature))
    return wrong("is not signed by its sign_key");
  return {};
}

Result<void> GossipNode::take(size_t from, const wire::Relayed& relayed,
                              std::vector<Whisper>& out) {
  const auto owner = place_of(relayed.owner());
  if (!owner) return Error{Code::kIntegrity, "an answer of somebody who is not in the charter"};
  TRY(check_answer(relayed, *owner));
  const wire::ReceivedAnswer& answer = relayed.answer();
  auto& place = held({answer.receipt.kind, answer.round})[*owner];
  if (place && place->answer().values != answer.values)
    return Error{Code::kIntegrity, relayed.owner() + " gave two answers to one question"};
  if (place || *owner == place_.self) return {};  // Known; its own it has from its ledger.
  place = relayed;
  ++count_;
  pass_on(relayed, from, out);
  return {};
}

/// As far as the answers lead: gives its own, and steps where all are there.
Result<std::vector<Whisper>> GossipNode::advance(std::vector<Whisper> out) {
  while (!finished() && !refused_ && is_welcome()) {
    if (!TRY(answer(out))) break;
    const Answers& all = held(now());
    const Key key = now();
    const auto is_there = [](const auto& place) { return place.has_value(); };
    if (!std::all_of(all.begin(), all.end(), is_there)) break;
    for (const auto& place : all) TRY(learner_.replay(place->owner(), place->answer()));
    completed_.push_back(key);
    if (finished())
      for (Whisper& each : told(standing())) out.push_back(std::move(each));
  }
  return out;
}

/// Its own answer of this round, once; false if it refused, which it tells everybody.
Result<bool> GossipNode::answer(std::vector<Whisper>& out) {
  auto& own = held(now())[place_.self];
  if (own) return true;
  const SyncLearner::Due due = this->due();
  auto released = due.kind == ReleaseKind::kEvaluation ? gate_.evaluate(due.round, due.theta)
                                                       : gate_.answer(due.round, due.theta);
  const std::string& name = plan_.owners[place_.self].name;
  if (!released && is_our_own(released.error())) return released.error();
  if (!released) {
    const wire::Refusal refusal{released.error().code, released.error().what};
    for (Whisper& each : refuse({name, refusal}, std::nullopt)) out.push_back(std::move(each));
    return false;
  }
  std::optional<Signature> signature;
  if (key_) signature = key_->sign(wire::signed_bytes(plan_.charter, name, released->receipt()));
  own = wire::Relayed(name, *released, signature);
  ++count_, ++given_;
  pass_on(*own, std::nullopt, out);
  return true;
}

std::vector<Whisper> GossipNode::refuse(const wire::RefusedBy& refused,
                                        std::optional<size_t> except) {
  refused_ = refused;
  return told(standing(), except);
}

void GossipNode::pass_on(const wire::Relayed& relayed, std::optional<size_t> except,
                         std::vector<Whisper>& out) const {
  wire::Gossip gossip = standing();
  gossip.answer = relayed;
  for (Whisper& each : told(gossip, except)) out.push_back(std::move(each));
}

/// To every neighbour but one.
std::vector<Whisper> GossipNode::told(const wire::Gossip& gossip,
                                      std::optional<size_t> except) const {
  const Bytes message = encode(gossip);
  std::vector<Whisper> out;
  for (size_t neighbour : place_.neighbours)
    if (neighbour != except) out.push_back({neighbour, message});
  return out;
}

std::vector<std::string> GossipNode::missing() const {
  std::vector<std::string> names;
  const auto all = held_.find(now());
  for (size_t i = 0; i < plan_.owners.size() && !finished(); ++i)
    if (all == held_.end() || !all->second[i]) names.push_back(plan_.owners[i].name);
  return names;
}

wire::Gossip GossipNode::wish() const {
  wire::Gossip gossip = standing();
  gossip.missing = missing();
  if (gossip.missing.size() > wire::kMissingMax) gossip.missing.resize(wire::kMissingMax);
  return gossip;
}

std::vector<Whisper> GossipNode::remind() const {
  if (refused_) return told(standing());
  return hello(told(wish()));
}

/// What a neighbour lacks, one answer a message.
void GossipNode::supply(size_t to, const wire::Gossip& wish, std::vector<Whisper>& out) const {
  const auto all = held_.find({wish.kind, wish.round});
  if (all == held_.end()) return;
  for (const std::string& name : wish.missing) {
    const auto owner = place_of(name);
    if (!owner || !all->second[*owner]) continue;
    wire::Gossip gossip = standing();
    gossip.answer = all->second[*owner];
    out.push_back({to, encode(gossip)});
  }
}

}  // namespace parley::protocol
