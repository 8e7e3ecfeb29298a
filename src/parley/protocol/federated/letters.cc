#include "parley/protocol/federated/letters.h"

#include <algorithm>
#include <utility>

namespace parley::protocol {

wire::MemberKeys to_wire(const Circle& circle, const Keys& keys) {
  return {circle.name(keys.member), keys.seal_key, keys.mask_key, keys.signature};
}

wire::NeighbourKeyList to_wire(const Circle& circle, const NeighbourKeys& shown) {
  wire::NeighbourKeyList list{{}, shown.everyones};
  for (const Keys& keys : shown.keys) list.neighbours.push_back(to_wire(circle, keys));
  return list;
}

wire::SealedShareList to_wire(const Circle& circle, const std::vector<SealedShares>& shares,
                              size_t owner) {
  const auto name = [&](size_t member) { return member == owner ? "" : circle.name(member); };
  wire::SealedShareList list;
  for (const SealedShares& each : shares)
    list.shares.push_back({name(each.from), name(each.to), each.box});
  return list;
}

wire::MemberConsent to_wire(const Circle& circle, const Consent& consent) {
  return {circle.name(consent.member), consent.signature};
}

wire::SurvivorList to_wire(const Circle& circle, const Survivors& survivors) {
  wire::SurvivorList list{.present = Bytes((circle.size() + 7) / 8)};
  for (const size_t member : survivors.members)
    list.present[member / 8] |= static_cast<uint8_t>(1u << member % 8);
  return list;
}

wire::SurvivorList to_wire(const Circle& circle, const std::vector<Consent>& consents) {
  wire::SurvivorList list;
  for (const Consent& each : consents) list.consents.push_back(to_wire(circle, each));
  return list;
}

wire::OpenedShareList to_wire(const Circle& circle, const Unmask& unmask) {
  wire::OpenedShareList list;
  for (const Unmask::Share& each : unmask.shares)
    list.shares.push_back({circle.name(each.of), each.of_key, each.share});
  return list;
}

Result<Keys> from_wire(const Circle& circle, const wire::MemberKeys& keys) {
  const size_t member = TRY(circle.place(keys.owner));
  return Keys{member, keys.seal_key, keys.mask_key, keys.signature};
}

Result<NeighbourKeys> from_wire(const Circle& circle, const wire::NeighbourKeyList& shown) {
  NeighbourKeys list{{}, shown.everyones};
  for (const wire::MemberKeys& keys : shown.neighbours)
    list.keys.push_back(TRY(from_wire(circle, keys)));
  return list;
}

Result<std::vector<SealedShares>> from_wire(const Circle& circle,
                                            const wire::SealedShareList& shares, size_t owner) {
  const auto place = [&](const std::string& name) {
    return name.empty() ? Result<size_t>(owner) : circle.place(name);
  };
  std::vector<SealedShares> list;
  for (const wire::SealedShareList::Share& each : shares.shares) {
    const size_t from = TRY(place(each.from));
    const size_t to = TRY(place(each.to));
    list.push_back({from, to, each.box});
  }
  return list;
}

Result<Consent> from_wire(const Circle& circle, const wire::MemberConsent& consent) {
  const size_t member = TRY(circle.place(consent.owner));
  return Consent{member, consent.signature};
}

Result<Survivors> survivors_from(const Circle& circle, const wire::SurvivorList& list) {
  Survivors survivors;
  for (size_t member = 0; member < 8 * list.present.size(); ++member)
    if (list.present[member / 8] >> member % 8 & 1) survivors.members.push_back(member);
  const bool fits = list.present.size() == (circle.size() + 7) / 8 &&
                    (survivors.members.empty() || survivors.members.back() < circle.size());
  if (fits) return survivors;
  return Error{Code::kIntegrity, "survivors that are not in the charter"};
}

Result<std::vector<Consent>> consents_from(const Circle& circle, const wire::SurvivorList& list) {
  std::vector<Consent> consents;
  for (const wire::MemberConsent& each : list.consents)
    consents.push_back(TRY(from_wire(circle, each)));
  return consents;
}

Result<Unmask> from_wire(const Circle& circle, const wire::OpenedShareList& opened) {
  Unmask unmask;
  for (const wire::OpenedShareList::Share& each : opened.shares) {
    const size_t of = TRY(circle.place(each.owner));
    unmask.shares.push_back({of, each.of_key, each.share});
  }
  return unmask;
}

}  // namespace parley::protocol
