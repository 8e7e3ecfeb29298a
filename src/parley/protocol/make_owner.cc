#include "parley/protocol/make_owner.h"

#include <utility>

#include "parley/plan/sums/distance.h"
#include "parley/plan/terms.h"
#include "parley/protocol/async.h"
#include "parley/protocol/federated/owner.h"
#include "parley/protocol/make_learner.h"
#include "parley/protocol/sync.h"
#include "parley/protocol/vertical/dealt/owner.h"
#include "parley/protocol/vertical/pair/moments_owner.h"
#include "parley/protocol/vertical/pair/rounds_owner.h"
#include "parley/protocol/vertical/setting.h"

namespace parley::protocol {
namespace {

using MadeOwner = Result<std::unique_ptr<Owner>>;

MadeOwner columns_owner(OwnerSetting& own) {
  const auto terms = TRY(plan::vertical_terms(own.charter));
  ColumnsSetting& columns = own.columns;
  auto setting = TRY(vertical_setting(own.charter, terms, own.place, columns.training));
  setting.records = columns.records;
  setting.secret = columns.secret;
  setting.keep = std::move(columns.keep);
  setting.kept = std::move(columns.kept);
  if (!own.key)
    for (VerticalPeer& peer : setting.owners) peer.sign_key.reset();    // Nobody signs.
  const gate::Records& records = std::get<gate::Records>(own.records);  // plan::check_sql
  auto gate =
      TRY(columns.alignment
              ? gate::ColumnsGate::open(records, *std::move(columns.alignment), terms, own.place,
                                        own.ledger, own.dataset)
              : gate::ColumnsGate::open(records, terms, own.place, own.ledger, own.dataset));
  if (has_dealer(own.charter))
    return std::unique_ptr<Owner>(std::make_unique<DealtOwner>(std::move(setting), std::move(gate),
                                                               own.entropy, std::move(own.key)));
  if (!own.charter.protocol.statistics())
    return std::unique_ptr<Owner>(std::make_unique<RoundsOwner>(std::move(setting), std::move(gate),
                                                                own.entropy, std::move(own.key)));
  return std::unique_ptr<Owner>(std::make_unique<MomentsOwner>(std::move(setting), std::move(gate),
                                                               own.entropy, std::move(own.key)));
}

MadeOwner aggregating_owner(OwnerSetting& own) {
  if (!own.key)
    return Error{Code::kInvalid,
                 "secure aggregation needs the owner's key for signatures, and there is none",
                 "Give it the key that the charter names."};
  plan::SecaggTerms terms = TRY(plan::secagg_plan(own.charter)).owners.at(own.place);
  if (auto* distance = std::get_if<plan::DistanceSum>(&terms.part))
    distance->metric = TRY(plan::distance_metric(own.charter, own.pilot));
  AggregationGroup group = TRY(AggregationGroup::of(own.charter));
  auto gate = TRY(gate::SecaggGate::open(
      std::get<gate::Records>(std::move(own.records)),  // plan::check_sql
      std::move(terms), own.ledger, own.dataset, own.entropy, {own.threads, own.stop}));
  return std::unique_ptr<Owner>(std::make_unique<FederatedOwner>(
      std::move(group), own.place, std::move(gate), *std::move(own.key), own.entropy));
}

MadeOwner owner_of(OwnerSetting& own) {
  const charter::Charter& charter = own.charter;
  if (charter.columns_apart()) return columns_owner(own);
  if (charter.secure_aggregation) return aggregating_owner(own);
  auto gate = TRY(gate::Gate::open(std::move(own.records), TRY(plan::terms_for(charter, own.place)),
                                   own.ledger, own.dataset, own.entropy, {own.threads, own.stop}));
  const std::string& name = charter.owners[own.place].name;
  if (const auto* async = charter.protocol.as<charter::Async>())
    return std::unique_ptr<Owner>(std::make_unique<AsyncOwner>(
        charter.hash, name, async->contact, std::move(gate), std::move(own.key)));
  return std::unique_ptr<Owner>(
      std::make_unique<SyncOwner>(charter.hash, name, std::move(gate), std::move(own.key)));
}

}  // namespace

Result<std::unique_ptr<Owner>> make_owner(OwnerSetting own) {
  auto owner = TRY(owner_of(own));
  owner->expect_at_end(plan::at_end(own.charter));
  return owner;
}

}  // namespace parley::protocol
