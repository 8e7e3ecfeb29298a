#include "parley/protocol/federated/messages.h"

#include <ranges>
#include <utility>

namespace parley::protocol {

namespace {

template <class Numbers>
Bytes bits_of(const AggregationGroup& group, const Numbers& members) {
  Bytes bits((group.size() + 7) / 8);
  for (const size_t member : members) bits[member / 8] |= static_cast<uint8_t>(1u << member % 8);
  return bits;
}

Result<std::vector<size_t>> members_of(const AggregationGroup& group, const Bytes& bits) {
  std::vector<size_t> members;
  for (size_t member = 0; member < 8 * bits.size(); ++member)
    if (bits[member / 8] >> member % 8 & 1) members.push_back(member);
  const bool fits =
      bits.size() == (group.size() + 7) / 8 && (members.empty() || members.back() < group.size());
  if (fits) return members;
  return Error{Code::kIntegrity, "owners that are not in the charter"};
}

}  // namespace

wire::MemberKeys to_wire(const AggregationGroup& group, const Keys& keys) {
  wire::MemberKeys out{.owner = group.name(keys.member),
                       .seal_key = keys.seal_key,
                       .mask_key = keys.mask_key,
                       .signature = keys.signature};
  if (keys.commitment != Hash{}) out.commitment = keys.commitment;
  return out;
}

wire::CommitmentsHash to_wire(const AggregationGroup&, const Commitments& everyones) {
  return {everyones.hash};
}

wire::RevealedNumber to_wire(const AggregationGroup&, const Reveal& reveal) {
  return {reveal.number};
}

wire::NeighbourKeyList to_wire(const AggregationGroup& group, const NeighbourKeys& shown) {
  wire::NeighbourKeyList list{.everyones = shown.everyones};
  if (!shown.numbers.empty()) list.present = bits_of(group, std::views::keys(shown.numbers));
  for (const auto& [member, number] : shown.numbers) list.numbers.push_back(number);
  for (const Keys& keys : shown.keys) list.neighbours.push_back(to_wire(group, keys));
  return list;
}

wire::SealedShareList to_wire(const AggregationGroup& group,
                              const std::vector<SealedShares>& shares, size_t owner) {
  const auto name = [&](size_t member) { return member == owner ? "" : group.name(member); };
  wire::SealedShareList list;
  for (const SealedShares& each : shares)
    list.shares.push_back({name(each.from), name(each.to), each.box});
  return list;
}

wire::MemberConsent to_wire(const AggregationGroup& group, const Consent& consent) {
  return {group.name(consent.member), consent.signature};
}

wire::SurvivorList to_wire(const AggregationGroup& group, const Survivors& survivors) {
  return {.present = bits_of(group, survivors.members)};
}

wire::SurvivorList to_wire(const AggregationGroup& group, const std::vector<Consent>& consents) {
  std::vector<size_t> who;
  wire::SurvivorList list;
  for (const Consent& each : consents) {
    who.push_back(each.member);
    list.signatures.push_back(each.signature);
  }
  list.present = bits_of(group, who);
  return list;
}

wire::OpenedShareList to_wire(const AggregationGroup& group, const Unmask& unmask) {
  wire::OpenedShareList list;
  for (const Unmask::Share& each : unmask.shares)
    list.shares.push_back({group.name(each.of), each.of_key, each.share});
  return list;
}

Result<Keys> from_wire(const AggregationGroup& group, const wire::MemberKeys& keys) {
  const size_t member = TRY(group.place(keys.owner));
  return Keys{member, keys.seal_key, keys.mask_key, keys.commitment.value_or(Hash{}),
              keys.signature};
}

Result<NeighbourKeys> from_wire(const AggregationGroup& group,
                                const wire::NeighbourKeyList& shown) {
  NeighbourKeys list{.everyones = shown.everyones};
  if (!shown.numbers.empty()) {
    const auto who = TRY(members_of(group, shown.present));
    for (size_t i = 0; i < who.size(); ++i) list.numbers.emplace(who[i], shown.numbers.at(i));
  }
  for (const wire::MemberKeys& keys : shown.neighbours)
    list.keys.push_back(TRY(from_wire(group, keys)));
  return list;
}

Result<std::vector<SealedShares>> from_wire(const AggregationGroup& group,
                                            const wire::SealedShareList& shares, size_t owner) {
  const auto place = [&](const std::string& name) {
    return name.empty() ? Result<size_t>(owner) : group.place(name);
  };
  std::vector<SealedShares> list;
  for (const wire::SealedShareList::Share& each : shares.shares) {
    const size_t from = TRY(place(each.from));
    const size_t to = TRY(place(each.to));
    list.push_back({from, to, each.box});
  }
  return list;
}

Result<Consent> from_wire(const AggregationGroup& group, const wire::MemberConsent& consent) {
  const size_t member = TRY(group.place(consent.owner));
  return Consent{member, consent.signature};
}

Result<Survivors> survivors_from(const AggregationGroup& group, const wire::SurvivorList& list) {
  return Survivors{TRY(members_of(group, list.present))};
}

Result<std::vector<Consent>> consents_from(const AggregationGroup& group,
                                           const wire::SurvivorList& list) {
  const auto who = TRY(members_of(group, list.present));
  std::vector<Consent> consents;
  for (size_t i = 0; i < list.signatures.size(); ++i)
    consents.push_back({who.at(i), list.signatures[i]});
  return consents;
}

Result<Unmask> from_wire(const AggregationGroup& group, const wire::OpenedShareList& opened) {
  Unmask unmask;
  for (const wire::OpenedShareList::Share& each : opened.shares) {
    const size_t of = TRY(group.place(each.owner));
    unmask.shares.push_back({of, each.of_key, each.share});
  }
  return unmask;
}

}  // namespace parley::protocol
