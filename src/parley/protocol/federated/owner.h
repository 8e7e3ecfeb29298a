// An owner in federated training. In one aggregation:
//
//   learner                                     owner
//                                  <-------     Hello{its signature under the charter}, once
//   Query{..., everyone's}         ------->     have all owners signed? the first of a stream
//   Query{aggregation a, theta}    ------->     is theta inside the box, is there budget left?
//                                  <-------     keys, fresh
//   hash of commitments            ------->     (in a sparse graph)
//                                  <-------     its part of the graph's seed
//   keys of all neighbours         ------->
//                                  <-------     sealed shares of its two secrets
//   the shares that are for it     ------->     K local steps, PAYS, adds its share of the noise
//                                  <-------     the vector under its mask, with a signed receipt
//   who survived                   ------->     enough of us, and we among them?
//                                  <-------     consent, signed
//   the others' consents           ------->
//                                  <-------     shares that open the sum
//
// Secrets are in memory only, for one aggregation. An owner whose stream or process breaks has left
// the aggregation for good; the next one has other keys and other noise, and is paid for again.
#pragma once

#include <memory>
#include <string>

#include "parley/gate/secagg_gate.h"
#include "parley/protocol/federated/group.h"
#include "parley/protocol/owner.h"

namespace parley::protocol {

class FederatedOwner final : public Owner {
 public:
  /// `entropy` is for the secrets of aggregations.
  FederatedOwner(AggregationGroup group, size_t place, gate::SecaggGate gate, SigningKey key,
                 Entropy& entropy);
  ~FederatedOwner() override;

  Bytes connect() override;
  bool gave_all() const override { return gate_.is_done(); }
  void rest() override { gate_.draw_ahead(); }

 protected:
  wire::Hello greeting() override;
  Reply consider(wire::ReceivedQuery query) override;
  Reply aggregate(wire::ToMember message) override;
  uint32_t last_round() const override { return gate_.paid(); }
  Result<void> recognise(const Hash& charter, const privacy::Receipt& receipt) override {
    return gate_.recognise(charter, receipt);
  }

 private:
  /// One aggregation.
  struct Session;
  Reply next(const wire::CommitmentsHash& everyones);
  Reply next(const wire::NeighbourKeyList& shown);
  Reply next(const wire::SealedShareList& shares);
  Reply next(const wire::SurvivorList& survivors);
  template <class Step>
  Reply say(const Step& step);

  AggregationGroup group_;
  size_t place_;
  gate::SecaggGate gate_;
  SigningKey signing_key_;
  Entropy* entropy_;
  uint32_t begun_ = 0;  // the last aggregation that this process took part in
  uint32_t taken_part_ = 0;
  bool all_approved_ = false;
  std::unique_ptr<Session> session_;
};

}  // namespace parley::protocol
