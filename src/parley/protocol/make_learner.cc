#include "parley/protocol/make_learner.h"

#include <utility>

#include "parley/protocol/async_plan.h"
#include "parley/protocol/federated/learner.h"
#include "parley/protocol/sync_plan.h"

namespace parley::protocol {
namespace {

template <class Role, class Plan>
Result<std::unique_ptr<Learner>> made(Plan plan, const charter::Charter& charter,
                                      Receipts receipts) {
  if (receipts == Receipts::kSigned) TRY(require_signatures(plan.owners, charter));
  return std::unique_ptr<Learner>(std::make_unique<Role>(std::move(plan)));
}

}  // namespace

Result<std::unique_ptr<Learner>> make_learner(const charter::Charter& charter,
                                              const learn::Rows* pilot, Receipts receipts) {
  if (charter.protocol.name == charter::ProtocolName::kAsync)
    return made<AsyncLearner>(TRY(async_plan(charter, pilot)), charter, receipts);
  if (charter.protocol.name == charter::ProtocolName::kFederated) {
    auto plan = TRY(federated_plan(charter, pilot));  // It has keys of its own: aggregation signs.
    return std::unique_ptr<Learner>(std::make_unique<FederatedLearner>(std::move(plan)));
  }
  return made<SyncLearner>(TRY(sync_plan(charter, pilot)), charter, receipts);
}

}  // namespace parley::protocol
