#include "parley/protocol/secagg/aggregation_server.h"

#include <algorithm>
#include <utility>

namespace parley::protocol {

AggregationServer::AggregationServer(const AggregationPlan& plan)
    : plan_(plan),
      plan_context_(plan.context()),
      drawn_{Graph::complete(plan.members.size()), plan_context_} {}

Error AggregationServer::wrong(size_t member, const std::string& what) const {
  const bool known = member < plan_.members.size();
  return {Code::kIntegrity, (known ? plan_.members[member].name : "someone") + " sent " + what};
}

/// Is this member's message due, for the first time?
Result<void> AggregationServer::expect(Phase phase, size_t member, bool known) const {
  if (member >= plan_.members.size()) return wrong(member, "a number that is no owner's");
  if (phase_ != phase) return wrong(member, "a message of secure aggregation that is not due now");
  if (known) return wrong(member, "the same message twice");
  return {};
}

Result<void> AggregationServer::enough(size_t left, const char* what) const {
  if (left >= plan_.survivors) return {};
  return Error{Code::kUnavailable,
               "secure aggregation ends: " + std::to_string(left) + " of " +
                   std::to_string(plan_.members.size()) + " owners " + what + ", where " +
                   std::to_string(plan_.survivors) + " are needed",
               "The round is repeated when more owners are there; nothing was opened."};
}

Result<void> AggregationServer::take(const Keys& keys) {
  TRY(expect(Phase::kKeys, keys.member, keys_.contains(keys.member)));
  if (!is_signed(plan_.members[keys.member].key, keys_bytes(plan_context_, keys), keys.signature))
    return wrong(keys.member, "keys that it has not signed for this round");
  keys_.emplace(keys.member, keys);
  return {};
}

Result<Commitments> AggregationServer::close_keys() {
  check(phase_ == Phase::kKeys);
  TRY(enough(keys_.size(), "sent keys"));
  std::map<size_t, Hash> commitments;
  for (const auto& [member, keys] : keys_) commitments.emplace(member, keys.commitment);
  phase_ = Phase::kReveals;
  return commitments_to(plan_context_, commitments);
}

Result<void> AggregationServer::take(size_t from, const Reveal& reveal) {
  TRY(expect(Phase::kReveals, from, numbers_.contains(from)));
  if (plan_.degree == 0 || !keys_.contains(from) ||
      commitment_to(plan_context_, from, reveal.number) != keys_.at(from).commitment)
    return wrong(from, "a number for the graph that it has not committed to");
  numbers_.emplace(from, reveal.number);
  return {};
}

Result<std::map<size_t, NeighbourKeys>> AggregationServer::close_reveals() {
  check(phase_ == Phase::kReveals);
  if (plan_.degree > 0 && numbers_.size() < keys_.size())
    return Error{Code::kUnavailable,
                 "secure aggregation ends: " + std::to_string(keys_.size() - numbers_.size()) +
                     " owners left before the graph was drawn, in which all have a part",
                 "The round is begun again; nothing was paid."};
  drawn_ = draw_graph(plan_, numbers_);
  std::vector<Keys> all;
  for (const auto& [member, keys] : keys_) all.push_back(keys);
  everyones_ = hash_of(all);
  std::map<size_t, NeighbourKeys> out;
  for (const auto& [member, keys] : keys_) {
    NeighbourKeys& shown = out[member];
    shown.everyones = everyones_;
    shown.numbers = numbers_;
    for (const size_t neighbour : drawn_.graph.of(member))
      if (keys_.contains(neighbour)) shown.keys.push_back(keys_.at(neighbour));
  }
  phase_ = Phase::kShares;
  return out;
}

Result<void> AggregationServer::take(size_t from, const std::vector<SealedShares>& shares) {
  TRY(expect(Phase::kShares, from, shares_.contains(from)));
  if (!keys_.contains(from)) return wrong(from, "shares without keys");
  std::set<size_t> due;
  for (const size_t neighbour : drawn_.graph.of(from))
    if (keys_.contains(neighbour)) due.insert(neighbour);
  for (const SealedShares& each : shares)
    if (each.from != from || due.erase(each.to) == 0)
      return wrong(from, "a share that is not for a neighbour of it, or one twice");
  if (!due.empty()) return wrong(from, "no share for " + plan_.members[*due.begin()].name);
  shares_.emplace(from, shares);
  return {};
}

Result<std::map<size_t, std::vector<SealedShares>>> AggregationServer::close_shares() {
  check(phase_ == Phase::kShares);
  TRY(enough(shares_.size(), "sent shares"));
  std::map<size_t, std::vector<SealedShares>> out;
  for (const auto& [from, shares] : shares_) out[from];  // Also who gets none hears of it.
  for (const auto& [from, shares] : shares_)
    for (const SealedShares& each : shares)
      if (shares_.contains(each.to)) out[each.to].push_back(each);
  phase_ = Phase::kMasked;
  return out;
}

Result<void> AggregationServer::take(size_t from, std::vector<uint64_t> masked) {
  TRY(expect(Phase::kMasked, from, masked_.contains(from)));
  if (!shares_.contains(from)) return wrong(from, "a vector without shares");
  if (masked.size() != plan_.words)
    return wrong(from, std::to_string(masked.size()) + " numbers, where a vector has " +
                           std::to_string(plan_.words));
  masked_.emplace(from, std::move(masked));
  return {};
}

Result<Survivors> AggregationServer::close_masked() {
  check(phase_ == Phase::kMasked);
  TRY(enough(masked_.size(), "sent their vector"));
  for (const auto& [member, vector] : masked_) survivors_.push_back(member);
  phase_ = Phase::kConsents;
  return Survivors{survivors_};
}

Result<void> AggregationServer::take(const Consent& consent) {
  TRY(expect(Phase::kConsents, consent.member, consents_.contains(consent.member)));
  if (!masked_.contains(consent.member)) return wrong(consent.member, "a consent without a vector");
  if (!is_signed(plan_.members[consent.member].key,
                 consent_bytes(drawn_.context, everyones_, survivors_), consent.signature))
    return wrong(consent.member, "a consent to other survivors");
  consents_.emplace(consent.member, consent);
  return {};
}

Result<std::vector<Consent>> AggregationServer::close_consents() {
  check(phase_ == Phase::kConsents);
  std::vector<Consent> out;
  for (const auto& [member, consent] : consents_)
    if (out.size() <= plan_.consents) out.push_back(consent);  // One is the reader's own.
  if (out.size() <= plan_.consents)
    return Error{Code::kUnavailable, "secure aggregation ends: too few owners consented",
                 "The round is repeated when more owners are there; nothing was opened."};
  phase_ = Phase::kUnmask;
  return out;
}

Result<void> AggregationServer::take(size_t from, const Unmask& unmask) {
  TRY(expect(Phase::kUnmask, from, unmasked_.contains(from)));
  if (!consents_.contains(from)) return wrong(from, "shares to unmask without a consent");
  std::set<size_t> seen;
  for (const Unmask::Share& each : unmask.shares) {
    const auto place = each.of < plan_.members.size() ? drawn_.graph.place(each.of, from)
                                                      : std::optional<size_t>();
    if (!place || !shares_.contains(each.of) || each.share.x != *place + 1)
      return wrong(from, "a share that it cannot hold");
    if (each.of_key == masked_.contains(each.of) || !seen.insert(each.of).second)
      return wrong(from, "a share that nobody asked for");
  }
  unmasked_.insert(from);
  for (const Unmask::Share& each : unmask.shares)
    opened_[{each.of, each.of_key}].push_back(each.share);
  return {};
}

Result<Secret32> AggregationServer::secret_of(size_t member, bool of_key) const {
  const auto found = opened_.find({member, of_key});
  const std::vector<SecretShare> none;
  auto secret = join_shares(found == opened_.end() ? none : found->second, plan_.threshold);
  if (secret) return secret;
  return Error{secret.error().code,
               "secure aggregation ends: the masks of " + plan_.members[member].name +
                   " cannot be taken off: " + secret.error().what,
               "The round is repeated when more owners are there; nothing was opened."};
}

Result<std::vector<int64_t>> AggregationServer::open_sum() {
  if (phase_ != Phase::kUnmask) return Error{Code::kFailed, "the sum is not ready to be opened"};
  std::vector<wire::OpenedMask> masks;
  for (const size_t member : survivors_) {
    const Secret32 seed = TRY(secret_of(member, false));
    masks.push_back({seed, false});
  }
  for (const auto& [gone, shares] : shares_) {
    if (masked_.contains(gone)) continue;
    const Secret32 secret = TRY(secret_of(gone, true));
    const AgreementKey key = AgreementKey::from(secret);
    if (key.public_key() != keys_.at(gone).mask_key)
      return Error{Code::kIntegrity, "the shares of " + plan_.members[gone].name +
                                         "'s key do not fit it: an owner gave out a wrong one"};
    for (const SealedShares& each : shares) {  // Whom it would have masked against.
      if (!masked_.contains(each.to)) continue;
      const Secret32 agreed = TRY(key.agree(keys_.at(each.to).mask_key, "mask", drawn_.context));
      masks.push_back({agreed, gone < each.to});
    }
  }
  masks_ = std::move(masks);
  std::vector<uint64_t> sum(plan_.words);
  for (const auto& [member, vector] : masked_)
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += vector[i];
  without_masks(sum, masks_);
  return std::vector<int64_t>(sum.begin(), sum.end());
}

void without_masks(std::span<uint64_t> sum, const std::vector<wire::OpenedMask>& masks) {
  for (const wire::OpenedMask& mask : masks)
    mask.missing ? add_mask(mask.seed, sum) : take_mask(mask.seed, sum);
}

}  // namespace parley::protocol
