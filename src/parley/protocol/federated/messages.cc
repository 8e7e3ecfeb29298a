#include "parley/protocol/federated/messages.h"

#include <algorithm>
#include <utility>

namespace parley::protocol {

wire::MemberKeys to_wire(const AggregationGroup& group, const Keys& keys) {
  return {group.name(keys.member), keys.seal_key, keys.mask_key, keys.signature};
}

wire::NeighbourKeyList to_wire(const AggregationGroup& group, const NeighbourKeys& shown) {
  wire::NeighbourKeyList list{{}, shown.everyones};
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
  wire::SurvivorList list{.present = Bytes((group.size() + 7) / 8)};
  for (const size_t member : survivors.members)
    list.present[member / 8] |= static_cast<uint8_t>(1u << member % 8);
  return list;
}

wire::SurvivorList to_wire(const AggregationGroup& group, const std::vector<Consent>& consents) {
  wire::SurvivorList list;
  for (const Consent& each : consents) list.consents.push_back(to_wire(group, each));
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
  return Keys{member, keys.seal_key, keys.mask_key, keys.signature};
}

Result<NeighbourKeys> from_wire(const AggregationGroup& group,
                                const wire::NeighbourKeyList& shown) {
  NeighbourKeys list{{}, shown.everyones};
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
  Survivors survivors;
  for (size_t member = 0; member < 8 * list.present.size(); ++member)
    if (list.present[member / 8] >> member % 8 & 1) survivors.members.push_back(member);
  const bool fits = list.present.size() == (group.size() + 7) / 8 &&
                    (survivors.members.empty() || survivors.members.back() < group.size());
  if (fits) return survivors;
  return Error{Code::kIntegrity, "survivors that are not in the charter"};
}

Result<std::vector<Consent>> consents_from(const AggregationGroup& group,
                                           const wire::SurvivorList& list) {
  std::vector<Consent> consents;
  for (const wire::MemberConsent& each : list.consents)
    consents.push_back(TRY(from_wire(group, each)));
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
