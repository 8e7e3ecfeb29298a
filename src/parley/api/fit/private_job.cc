#include "parley/api/fit/private_job.h"

#include <deque>
#include <utility>

#include "parley/api/stopped.h"
#include "parley/base/clock.h"
#include "parley/base/entropy.h"
#include "parley/ledger/ledger.h"
#include "parley/plan/can_run.h"
#include "parley/protocol/make_learner.h"
#include "parley/protocol/make_owner.h"
#include "parley/protocol/trained_model.h"

namespace parley::api {
namespace {

/// What the two say to each other, one message at a time.
class Conversation {
 public:
  Conversation(protocol::Owner& owner, protocol::Learner& learner)
      : owner_(owner), learner_(learner) {
    learner.attend(0);
    to_learner_.push_back(owner.connect());
  }

  Result<void> run(const std::function<bool(uint64_t, uint64_t)>& go_on) {
    while (!learner_.finished()) {
      if (to_learner_.empty())
        return Error{Code::kFailed, "the job came to a halt before its last round", ""};
      const bool taken = TRY(learner_hears());
      if (taken && go_on && !go_on(learner_.rounds_done(), learner_.rounds())) return stopped();
    }
    return {};
  }

 private:
  Result<bool> learner_hears() {
    const Bytes message = std::move(to_learner_.front());
    to_learner_.pop_front();
    protocol::Step step = TRY(learner_.step(0, message));
    if (learner_.guard().asks()) {  // Nobody is there to be asked: it goes on, and says so.
      protocol::Step more = learner_.decide(true);
      for (protocol::Outgoing& each : more.messages) step.messages.push_back(std::move(each));
    }
    for (const protocol::Outgoing& each : step.messages) TRY(owner_hears(each.message));
    if (learner_.refused()) return *learner_.refused();
    return step.taken.has_value();
  }

  Result<void> owner_hears(const Bytes& message) {
    auto reply = TRY(owner_.step(message));
    if (owner_.refused()) return *owner_.refused();
    if (reply) to_learner_.push_back(*std::move(reply));
    while (auto more = owner_.more()) to_learner_.push_back(*std::move(more));
    owner_.rest();
    return {};
  }

  protocol::Owner& owner_;
  protocol::Learner& learner_;
  std::deque<Bytes> to_learner_{};
};

Error no_such_dataset(const PrivateJob& job) {
  return {Code::kInvalid,
          "the ledger has no data set " + job.dataset,
          "Declare it, with its lifetime budget, before the first fit.",
          {.file = job.ledger.string()}};
}

}  // namespace

Result<learn::Model> run_private_job(const PrivateJob& job) {
  const charter::Charter& charter = job.charter;
  check(charter.owners.size() == 1);
  TRY(plan::can_run(charter, 0));
  SystemClock clock;
  SystemEntropy entropy;
  ledger::Ledger ledger = TRY(ledger::Ledger::open(job.ledger, charter.owners[0].name, clock));
  const auto dataset = ledger.find(job.dataset);
  if (!dataset) return no_such_dataset(job);
  const auto learner =
      TRY(protocol::make_learner(charter, job.pilot.get(), protocol::Receipts::kUnsigned));
  const std::string started = clock.now();
  const auto owner = TRY(protocol::make_owner({.charter = charter,
                                               .records = gate::Records(job.rows),
                                               .ledger = ledger,
                                               .dataset = *dataset,
                                               .entropy = entropy,
                                               .threads = job.threads,
                                               .pilot = job.pilot.get()}));
  TRY(Conversation(*owner, *learner).run(job.go_on));
  return protocol::trained_model(charter, learner->trained(), {.started = started});
}

Result<void> declare_dataset(const std::filesystem::path& file, const NewDataset& declared) {
  const auto epsilon = TRY(privacy::Epsilon::make(declared.epsilon));
  const auto budget = TRY(privacy::Budget::make(epsilon, declared.delta, declared.pure));
  SystemClock clock;
  ledger::Ledger ledger = TRY(ledger::Ledger::open(file, declared.owner, clock));
  TRY(ledger.declare(declared.dataset, budget));
  return {};
}

}  // namespace parley::api
