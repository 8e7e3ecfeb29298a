#include "parley/protocol/secagg/aggregation.h"

#include <sodium.h>

#include <algorithm>
#include <set>
#include <utility>

namespace parley::protocol {
namespace {

constexpr size_t kShareBytes = 1 + 32;

/// Two neighbours seal one message each to the other, under the same key.
uint8_t direction(size_t from, size_t to) { return from < to; }

void append(Bytes& bytes, const SecretShare& share) {
  bytes.push_back(share.x);
  bytes.insert(bytes.end(), share.y.begin(), share.y.end());
}

SecretShare read_share(ByteView bytes) {
  SecretShare share{.x = bytes[0]};
  std::copy(bytes.begin() + 1, bytes.begin() + kShareBytes, share.y.begin());
  return share;
}

/// Rising numbers below `end`.
bool is_set(const std::vector<size_t>& members, size_t end) {
  for (size_t i = 0; i < members.size(); ++i)
    if (members[i] >= end || (i > 0 && members[i] <= members[i - 1])) return false;
  return true;
}

bool holds(const std::vector<size_t>& set, size_t member) {
  return std::binary_search(set.begin(), set.end(), member);
}

}  // namespace

Hash AggregationPlan::context() const {
  TupleBytes bytes;
  bytes.add("secure aggregation 2").add(job).add(uint64_t{round}).add(uint64_t{words});
  bytes.add(uint64_t{threshold}).add(uint64_t{survivors}).add(uint64_t{consents});
  bytes.add(uint64_t{degree}).add(uint64_t{stretch}).add(uint64_t{members.size()});
  for (const Member& member : members) bytes.add(member.name).add(member.key.bytes);
  return bytes.sha256();
}

Result<void> AggregationPlan::valid() const {
  const auto bad = [](std::string what, std::string hint) {
    return Error{Code::kInvalid, std::move(what), std::move(hint)};
  };
  if (members.size() < 3)
    return bad("a secure sum of fewer than 3 owners hides nothing", "Add owners.");
  if (survivors < 2 || survivors > members.size())
    return bad("survivors must be from 2 to the number of owners", "Set survivors.");
  if (const size_t many = neighbours(); threshold < 2 || threshold > many || many > 255)
    return bad("threshold " + std::to_string(threshold) + " does not fit " + std::to_string(many) +
                   " neighbours, of whom there may be 255 at most",
               "Take a threshold from 2 to the number of neighbours.");
  if (degree % 2 != 0 || degree >= members.size() || consents >= members.size())
    return bad("neighbours and consents are of other owners, and neighbours an even number",
               "Take fewer.");
  return {};
}

Hash hash_of(const std::vector<Keys>& keys) {
  TupleBytes bytes;
  for (const Keys& each : keys)
    bytes.add(uint64_t{each.member}).add(each.seal_key).add(each.mask_key).add(each.signature);
  return bytes.sha256();
}

Hash commitment_to(const Hash& context, size_t member, const Hash& number) {
  return TupleBytes().add("commitment").add(context).add(uint64_t{member}).add(number).sha256();
}

Commitments commitments_to(const Hash& context, const std::map<size_t, Hash>& commitments) {
  TupleBytes bytes;
  bytes.add("commitments").add(context);
  for (const auto& [member, commitment] : commitments) bytes.add(uint64_t{member}).add(commitment);
  return {bytes.sha256()};
}

Drawn draw_graph(const AggregationPlan& plan, const Numbers& numbers) {
  const Hash context = plan.context();
  if (plan.degree == 0) return {Graph::complete(plan.members.size()), context};
  TupleBytes bytes;
  bytes.add("graph").add(context);
  for (const auto& [member, number] : numbers) bytes.add(uint64_t{member}).add(number);
  const Hash seed = bytes.sha256();
  return {Graph::regular(plan.members.size(), plan.degree, seed),
          TupleBytes().add("drawn").add(context).add(seed).sha256()};
}

Bytes keys_bytes(const Hash& context, const Keys& keys) {
  return TupleBytes()
      .add("keys")
      .add(context)
      .add(uint64_t{keys.member})
      .add(keys.seal_key)
      .add(keys.mask_key)
      .add(keys.commitment)
      .bytes();
}

Bytes consent_bytes(const Hash& context, const Hash& everyones,
                    const std::vector<size_t>& survivors) {
  TupleBytes bytes;
  bytes.add("consent").add(context).add(everyones).add(uint64_t{survivors.size()});
  for (const size_t member : survivors) bytes.add(uint64_t{member});
  return bytes.bytes();
}

AggregationMember::AggregationMember(const AggregationPlan& plan, size_t self,
                                     const SigningKey& key, Entropy& entropy)
    : plan_(plan),
      self_(self),
      key_(key),
      entropy_(entropy),
      plan_context_(plan.context()),
      drawn_{Graph::complete(plan.members.size()), plan_context_},
      sealing_(AgreementKey::draw(entropy)),
      masking_(AgreementKey::draw(entropy)),
      seed_(draw_secret(entropy)) {
  check(self < plan.members.size());
  if (plan.degree > 0) number_ = draw_secret(entropy);
}

AggregationMember::~AggregationMember() {
  sodium_memzero(seed_.data(), seed_.size());
  for (auto& [member, pair] : shares_) sodium_memzero(&pair, sizeof pair);
  for (auto& [member, known] : neighbours_)
    sodium_memzero(known.seal_key.data(), known.seal_key.size());
}

Error AggregationMember::wrong(std::string what) const {
  return {Code::kIntegrity, std::move(what), "The aggregation is abandoned; nothing was revealed."};
}

Result<void> AggregationMember::enter(Phase expected) {
  const Phase now = std::exchange(phase_, Phase::kOver);
  if (now != expected) return wrong("a message of secure aggregation that is not due now");
  return {};
}

Result<Keys> AggregationMember::begin() {
  TRY(enter(Phase::kBegin));
  Keys keys{.member = self_, .seal_key = sealing_.public_key(), .mask_key = masking_.public_key()};
  const bool sparse = plan_.degree > 0;
  if (sparse) keys.commitment = commitment_to(plan_context_, self_, number_);
  keys.signature = key_.sign(keys_bytes(plan_context_, keys));
  phase_ = sparse ? Phase::kReveal : Phase::kShare;
  return keys;
}

Result<Reveal> AggregationMember::reveal(const Commitments& everyones) {
  TRY(enter(Phase::kReveal));
  committed_ = everyones;
  phase_ = Phase::kShare;
  return Reveal{number_};
}

/// One number that the server could not know is enough for a graph that it could not choose, so it
/// does not matter whose the others are; that all draw the same one is seen by their consents.
Result<void> AggregationMember::draw_graph_from(const Numbers& numbers) {
  if (plan_.degree == 0) return {};
  std::map<size_t, Hash> commitments;
  for (const auto& [member, number] : numbers)
    commitments.emplace(member, commitment_to(plan_context_, member, number));
  if (commitments_to(plan_context_, commitments).hash != committed_.hash)
    return wrong("numbers for the graph that are not those that were committed to");
  if (const auto own = numbers.find(self_); own == numbers.end() || own->second != number_)
    return wrong("numbers for the graph without ours");
  drawn_ = draw_graph(plan_, numbers);
  return {};
}

Result<void> AggregationMember::check_keys(const Keys& keys, const Numbers& numbers) const {
  if (!drawn_.graph.place(self_, keys.member)) return wrong("keys of someone who is no neighbour");
  const AggregationPlan::Member& member = plan_.members[keys.member];
  if (!is_signed(member.key, keys_bytes(plan_context_, keys), keys.signature))
    return wrong("keys that " + member.name + " has not signed for this round");
  if (plan_.degree > 0 && !numbers.contains(keys.member))
    return wrong("keys of " + member.name + ", which had no part in drawing the graph");
  return {};
}

Result<std::vector<SealedShares>> AggregationMember::share(const NeighbourKeys& shown) {
  TRY(enter(Phase::kShare));
  TRY(draw_graph_from(shown.numbers));
  for (const Keys& keys : shown.keys) {
    TRY(check_keys(keys, shown.numbers));
    const Secret32 key = TRY(sealing_.agree(keys.seal_key, "seal", drawn_.context));
    if (!neighbours_.emplace(keys.member, Neighbour{keys, key}).second)
      return wrong("keys of " + plan_.members[keys.member].name + " twice");
  }
  if (neighbours_.size() < plan_.threshold)
    return wrong("keys of " + std::to_string(neighbours_.size()) + " neighbours, where " +
                 std::to_string(plan_.threshold) + " are needed");
  everyones_ = shown.everyones;
  // A neighbour's share has the number of its place among all neighbours, present or not.
  const size_t holders = plan_.neighbours();
  const auto of_seed = share_secret(seed_, plan_.threshold, holders, entropy_);
  const auto of_key = share_secret(masking_.secret(), plan_.threshold, holders, entropy_);
  std::vector<SealedShares> out;
  for (const auto& [neighbour, known] : neighbours_) {
    const size_t place = *drawn_.graph.place(self_, neighbour);
    Bytes message;
    append(message, of_seed[place]);
    append(message, of_key[place]);
    out.push_back(
        {self_, neighbour, seal(known.seal_key, direction(self_, neighbour), everyones_, message)});
    sodium_memzero(message.data(), message.size());
  }
  phase_ = Phase::kMask;
  return out;
}

Result<void> AggregationMember::take_share(const SealedShares& sealed) {
  const auto known = neighbours_.find(sealed.from);
  if (sealed.to != self_ || known == neighbours_.end())
    return wrong("a share that is not from a neighbour to us");
  const std::string& name = plan_.members[sealed.from].name;
  const auto message =
      open(known->second.seal_key, direction(sealed.from, self_), everyones_, sealed.box);
  if (!message || message->size() != 2 * kShareBytes)
    return wrong("a share of " + name + " that was changed on the way or made for other keys");
  const ByteView bytes = *message;
  const Pair pair{read_share(bytes), read_share(bytes.subspan(kShareBytes))};
  const size_t place = *drawn_.graph.place(sealed.from, self_) + 1;
  if (pair.of_seed.x != place || pair.of_key.x != place)
    return wrong("a share of " + name + " that is another owner's");
  if (!shares_.emplace(sealed.from, pair).second) return wrong("shares of " + name + " twice");
  return {};
}

Result<privacy::Mask> AggregationMember::mask(const std::vector<SealedShares>& received) {
  TRY(enter(Phase::kMask));
  for (const SealedShares& sealed : received) TRY(take_share(sealed));
  if (shares_.size() < plan_.threshold)
    return wrong("shares of " + std::to_string(shares_.size()) + " neighbours, where " +
                 std::to_string(plan_.threshold) + " are needed");
  privacy::Mask mask{std::vector<uint64_t>(plan_.words)};
  add_mask(seed_, mask.words_);
  for (const auto& [neighbour, pair] : shares_) {
    const Secret32 agreed =
        TRY(masking_.agree(neighbours_.at(neighbour).keys.mask_key, "mask", drawn_.context));
    neighbour > self_ ? add_mask(agreed, mask.words_) : take_mask(agreed, mask.words_);
  }
  phase_ = Phase::kConsent;
  return mask;
}

Result<Consent> AggregationMember::consent(const Survivors& survivors) {
  TRY(enter(Phase::kConsent));
  const std::vector<size_t>& set = survivors.members;
  if (!is_set(set, plan_.members.size())) return wrong("a list of survivors that is none");
  if (set.size() < plan_.survivors)
    return wrong(std::to_string(set.size()) + " survivors, where the charter asks for " +
                 std::to_string(plan_.survivors));
  if (!holds(set, self_)) return wrong("a list of survivors that leaves us out");
  size_t near = 0;
  for (const size_t neighbour : drawn_.graph.of(self_)) {
    if (!holds(set, neighbour)) continue;
    if (!shares_.contains(neighbour))
      return wrong("a survivor, " + plan_.members[neighbour].name + ", whose shares never came");
    ++near;
  }
  if (near < plan_.threshold) return wrong("too few neighbours among the survivors");
  if (!drawn_.graph.holds_together(set, plan_.stretch))
    return wrong("survivors that colluders could divide, and add up apart from each other");
  survivors_ = set;
  phase_ = Phase::kUnmask;
  return Consent{self_, key_.sign(consent_bytes(drawn_.context, everyones_, set))};
}

Result<Unmask> AggregationMember::unmask(const std::vector<Consent>& consents) {
  TRY(enter(Phase::kUnmask));
  const Bytes agreed = consent_bytes(drawn_.context, everyones_, survivors_);
  std::set<size_t> who;
  for (const Consent& each : consents) {
    if (each.member == self_) continue;
    if (!holds(survivors_, each.member)) return wrong("a consent of someone who did not survive");
    if (!is_signed(plan_.members[each.member].key, agreed, each.signature))
      return wrong("a consent of " + plan_.members[each.member].name +
                   " to other keys or survivors than we were shown");
    if (!who.insert(each.member).second) return wrong("a consent twice");
  }
  if (who.size() < plan_.consents)
    return wrong(std::to_string(who.size()) + " consents, where " + std::to_string(plan_.consents) +
                 " are needed");
  Unmask out;
  for (const auto& [neighbour, pair] : shares_) {
    const bool of_key = !holds(survivors_, neighbour);
    out.shares.push_back({neighbour, of_key, of_key ? pair.of_key : pair.of_seed});
  }
  return out;
}

}  // namespace parley::protocol
