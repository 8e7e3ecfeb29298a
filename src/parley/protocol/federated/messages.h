// The messages of secure aggregation in two forms: with owners' numbers, as the state machines use
// them, and with owners' names, as they are sent.
#pragma once

#include <vector>

#include "parley/protocol/federated/group.h"
#include "parley/wire/aggregation.h"

namespace parley::protocol {

wire::MemberKeys to_wire(const AggregationGroup& group, const Keys& keys);
wire::CommitmentsHash to_wire(const AggregationGroup& group, const Commitments& everyones);
wire::RevealedNumber to_wire(const AggregationGroup& group, const Reveal& reveal);
wire::NeighbourKeyList to_wire(const AggregationGroup& group, const NeighbourKeys& shown);
/// From `owner` or for it, who is not named.
wire::SealedShareList to_wire(const AggregationGroup& group,
                              const std::vector<SealedShares>& shares, size_t owner);
wire::MemberConsent to_wire(const AggregationGroup& group, const Consent& consent);
wire::SurvivorList to_wire(const AggregationGroup& group, const Survivors& survivors);
wire::SurvivorList to_wire(const AggregationGroup& group, const std::vector<Consent>& consents);
wire::OpenedShareList to_wire(const AggregationGroup& group, const Unmask& unmask);
/// All others name whom they are about.
template <class Step>
auto to_wire(const AggregationGroup& group, const Step& step, size_t) {
  return to_wire(group, step);
}

// kIntegrity where a name is in no charter.
Result<Keys> from_wire(const AggregationGroup& group, const wire::MemberKeys& keys);
Result<NeighbourKeys> from_wire(const AggregationGroup& group, const wire::NeighbourKeyList& shown);
Result<std::vector<SealedShares>> from_wire(const AggregationGroup& group,
                                            const wire::SealedShareList& shares, size_t owner);
Result<Consent> from_wire(const AggregationGroup& group, const wire::MemberConsent& consent);
Result<Survivors> survivors_from(const AggregationGroup& group, const wire::SurvivorList& list);
Result<std::vector<Consent>> consents_from(const AggregationGroup& group,
                                           const wire::SurvivorList& list);
Result<Unmask> from_wire(const AggregationGroup& group, const wire::OpenedShareList& opened);

}  // namespace parley::protocol
