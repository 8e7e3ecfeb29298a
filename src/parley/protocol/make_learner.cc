#include "parley/protocol/make_learner.h"

#include <utility>

#include "parley/plan/learner/async_plan.h"
#include "parley/plan/learner/sync_plan.h"
#include "parley/protocol/async.h"
#include "parley/protocol/federated/learner.h"
#include "parley/protocol/sync.h"
#include "parley/protocol/vertical/learner.h"

namespace parley::protocol {
namespace {

template <class Role, class Plan>
Result<std::unique_ptr<Learner>> made(Plan plan, const charter::Charter& charter,
                                      Receipts receipts) {
  if (receipts == Receipts::kSigned) TRY(plan::require_signatures(plan.owners, charter));
  return std::unique_ptr<Learner>(std::make_unique<Role>(std::move(plan)));
}

template <class Plan>
Result<PilotGuard> guard_of(const charter::Charter& charter, const data::Rows* pilot,
                            const Plan& plan) {
  auto test = TRY(plan::PilotTest::make(charter, pilot, plan.schedule, plan.owners));
  return test ? PilotGuard(*std::move(test)) : PilotGuard();
}

}  // namespace

bool has_dealer(const charter::Charter& charter) {
  return charter.columns_apart() && !charter.protocol.without_dealer();
}

Result<std::unique_ptr<Learner>> make_learner(const charter::Charter& charter,
                                              const data::Rows* pilot, Receipts receipts,
                                              const std::optional<Secret32>& dealer) {
  if (charter.columns_apart()) {
    auto plan = TRY(vertical_plan(charter));
    if (receipts == Receipts::kSigned) TRY(plan::require_signatures(plan.owners, charter));
    if (has_dealer(charter) != dealer.has_value())
      return Error{Code::kInvalid,
                   "the dealer's key is missing, or was given for a job without a dealer",
                   "It draws masks and noise if protocol.dealer is \"learner\"."};
    return std::unique_ptr<Learner>(std::make_unique<VerticalLearner>(std::move(plan), dealer));
  }
  if (charter.protocol.as<charter::Async>())
    return made<AsyncLearner>(TRY(plan::async_plan(charter, pilot)), charter, receipts);
  if (charter.secure_aggregation) {
    auto plan = TRY(federated_plan(charter, pilot));  // It has keys of its own: aggregation signs.
    const auto guard = TRY(guard_of(charter, pilot, plan));
    auto learner = std::make_unique<FederatedLearner>(std::move(plan));
    learner->guard(guard);
    return std::unique_ptr<Learner>(std::move(learner));
  }
  auto plan = TRY(plan::sync_plan(charter, pilot));
  const auto guard = TRY(guard_of(charter, pilot, plan));
  auto learner = TRY(made<SyncLearner>(std::move(plan), charter, receipts));
  learner->guard(guard);
  return learner;
}

}  // namespace parley::protocol
