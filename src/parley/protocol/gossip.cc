#include "parley/protocol/gossip.h"

#include <algorithm>

namespace parley::protocol {

using privacy::ReleaseKind;

GossipNode::GossipNode(SyncPlan plan, Place place, gate::Gate gate, std::optional<SigningKey> key)
    : plan_(plan),
      place_(std::move(place)),
      gate_(std::move(gate)),
      key_(std::move(key)),
      learner_(std::move(plan)) {}

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

Result<std::vector<Whisper>> GossipNode::step(size_t from, ByteView message) {
  const wire::Gossip gossip = TRY(wire::decode_gossip(message));
  if (gossip.charter != plan_.charter)
    return Error{Code::kIntegrity, "a message of charter " + to_hex(gossip.charter) +
                                       " arrived in a job of charter " + to_hex(plan_.charter)};
  if (refused_ && gossip.refused) return std::vector<Whisper>();
  if (refused_) return std::vector<Whisper>{{from, encode(standing())}};  // It has not heard.
  if (gossip.refused) return refuse(*gossip.refused, from);
  std::vector<Whisper> out;
  if (gossip.answer) out = TRY(take(from, *gossip.answer));
  supply(from, gossip, out);
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
  if (answer.receipt.kind == ReleaseKind::kCount || answer.round < 1 || answer.round > rounds ||
      answer.receipt.round != answer.round)
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

Result<std::vector<Whisper>> GossipNode::take(size_t from, const wire::Relayed& relayed) {
  const auto owner = place_of(relayed.owner());
  if (!owner) return Error{Code::kIntegrity, "an answer of somebody who is not in the charter"};
  TRY(check_answer(relayed, *owner));
  const wire::ReceivedAnswer& answer = relayed.answer();
  auto& place = held({answer.receipt.kind, answer.round})[*owner];
  if (place && place->answer().values != answer.values)
    return Error{Code::kIntegrity, relayed.owner() + " gave two answers to one question"};
  std::vector<Whisper> out;
  if (place || *owner == place_.self) return out;  // Known; its own it has from its ledger.
  place = relayed;
  pass_on(relayed, from, out);
  return advance(std::move(out));
}

/// As far as the answers lead: gives its own, and steps where all are there.
Result<std::vector<Whisper>> GossipNode::advance(std::vector<Whisper> out) {
  while (!finished() && !refused_) {
    if (!TRY(answer(out))) break;
    const Answers& all = held(now());
    const auto is_there = [](const auto& place) { return place.has_value(); };
    if (!std::all_of(all.begin(), all.end(), is_there)) break;
    for (const auto& place : all) TRY(learner_.replay(place->owner(), place->answer()));
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
  if (!released && released.error().code == Code::kFailed) return released.error();
  if (!released) {
    const wire::Refusal refusal{released.error().code, released.error().what};
    for (Whisper& each : refuse({name, refusal}, std::nullopt)) out.push_back(std::move(each));
    return false;
  }
  std::optional<Signature> signature;
  if (key_) signature = key_->sign(wire::signed_bytes(plan_.charter, name, released->receipt()));
  own = wire::Relayed(name, *released, signature);
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

std::vector<Whisper> GossipNode::remind() const {
  wire::Gossip gossip = standing();
  if (refused_) return told(gossip);
  const auto all = held_.find(now());
  for (size_t i = 0; i < plan_.owners.size() && gossip.missing.size() < wire::kMissingMax; ++i)
    if (!finished() && (all == held_.end() || !all->second[i]))
      gossip.missing.push_back(plan_.owners[i].name);
  return told(gossip);
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
