#include "parley/protocol/federated/owner.h"

#include <utility>
#include <variant>

#include "parley/protocol/federated/messages.h"

namespace parley::protocol {
namespace {

/// Every aggregation draws another graph, in which the colluders may stand better. More would be no
/// accident: a learner that begins them and breaks them off before anyone pays.
constexpr uint32_t kUnpaidMax = 4096;

}  // namespace

struct FederatedOwner::Session {
  AggregationPlan plan;
  wire::ReceivedQuery query;
  AggregationMember member;
  bool consented = false;

  Session(AggregationPlan of, wire::ReceivedQuery about, size_t place, const SigningKey& key,
          Entropy& entropy)
      : plan(std::move(of)), query(std::move(about)), member(plan, place, key, entropy) {}
};

FederatedOwner::FederatedOwner(AggregationGroup group, size_t place, gate::SecaggGate gate,
                               SigningKey key, Entropy& entropy)
    : Owner(gate.terms().charter, group.name(place), key),
      group_(std::move(group)),
      place_(place),
      gate_(std::move(gate)),
      signing_key_(std::move(key)),
      entropy_(&entropy) {}

FederatedOwner::~FederatedOwner() = default;

Bytes FederatedOwner::connect() {
  session_.reset();
  return Owner::connect();
}

wire::Hello FederatedOwner::greeting() {
  wire::Hello hello = Owner::greeting();
  hello.approval = signing_key_.sign(group_.approval_of(place_));
  return hello;
}

Owner::Reply FederatedOwner::consider(wire::ReceivedQuery query) {
  session_.reset();
  if (!all_approved_)
    if (const auto all = group_.check_approvals(query.approvals); !all) return refuse(all.error());
  all_approved_ = true;
  if (query.kind == privacy::ReleaseKind::kCount)
    return refuse({Code::kPolicy, "a charter with [secure_aggregation] asks for no counts"});
  if (query.round <= begun_)
    return refuse({Code::kIntegrity, "aggregation " + std::to_string(query.round) +
                                         " again, after " + std::to_string(begun_)});
  if (taken_part_ >= gate_.terms().answers + kUnpaidMax)
    return refuse({Code::kPolicy, "more than " + std::to_string(kUnpaidMax) +
                                      " aggregations were begun and broken off"});
  if (const auto fits = gate_.validate(query.theta, query.kind); !fits) return refuse(fits.error());
  begun_ = query.round;
  ++taken_part_;
  entropy_->renew();  // The secrets of a sum depend on what the kernel gives for it.
  session_ = std::make_unique<Session>(group_.plan(begun_, gate_.numbers(query.kind)),
                                       std::move(query), place_, signing_key_, *entropy_);
  return say(session_->member.begin());
}

Owner::Reply FederatedOwner::aggregate(wire::ToMember message) {
  if (!session_ || message.attempt != begun_)
    return Error{Code::kIntegrity, "a message of an aggregation that is not under way"};
  Reply reply = std::visit([&](const auto& step) { return next(step); }, message.step);
  if (!reply || refused()) session_.reset();
  return reply;
}

/// What the state machine says, or why it says nothing more.
template <class Step>
Owner::Reply FederatedOwner::say(const Step& step) {
  if (!step) return refuse(step.error());
  return std::optional(send(wire::FromMember{begun_, to_wire(group_, *step, place_)}));
}

Owner::Reply FederatedOwner::next(const wire::CommitmentsHash& everyones) {
  return say(session_->member.reveal({everyones.sha256}));
}

Owner::Reply FederatedOwner::next(const wire::NeighbourKeyList& shown) {
  const auto keys = from_wire(group_, shown);
  if (!keys) return refuse(keys.error());
  return say(session_->member.share(*keys));
}

/// The one moment at which something of the records leaves: paid before, and under the mask.
Owner::Reply FederatedOwner::next(const wire::SealedShareList& list) {
  const auto shares = from_wire(group_, list, place_);
  if (!shares) return refuse(shares.error());
  auto mask = session_->member.mask(*shares);
  if (!mask) return refuse(mask.error());
  const wire::ReceivedQuery& query = session_->query;
  auto masked = gate_.share(begun_, query.theta, *std::move(mask), query.kind);
  if (!masked) return refuse(masked.error());
  const auto signature = sign(masked->receipt());
  return std::optional(send(wire::MaskedPart{begun_, *std::move(masked), signature}));
}

Owner::Reply FederatedOwner::next(const wire::SurvivorList& list) {
  if (!std::exchange(session_->consented, true)) {
    const auto survivors = survivors_from(group_, list);
    if (!survivors) return refuse(survivors.error());
    return say(session_->member.consent(*survivors));
  }
  const auto consents = consents_from(group_, list);
  if (!consents) return refuse(consents.error());
  return say(session_->member.unmask(*consents));
}

}  // namespace parley::protocol
