#include "parley/audit/targets/vertical_job.h"

#include <deque>
#include <memory>
#include <utility>

#include "parley/protocol/make_learner.h"
#include "parley/protocol/vertical/learner.h"
#include "parley/protocol/vertical/owner.h"
#include "parley/sim/engine/party.h"

namespace parley::audit {
namespace {

/// The parties, and the messages on their way.
class Table {
 public:
  Table(protocol::VerticalPlan plan, const std::optional<Secret32>& key)
      : learner_(std::move(plan), key) {}

  Result<void> seat(std::unique_ptr<protocol::Owner> owner) {
    owners_.push_back(std::move(owner));
    learner_.attend(owners_.size() - 1);
    return hear(owners_.size() - 1, owners_.back()->connect());
  }
  Result<void> play() {
    for (; !post_.empty(); post_.pop_front()) {
      const size_t m = post_.front().owner;
      if (const auto reply = TRY(owners_[m]->step(post_.front().message))) TRY(hear(m, *reply));
      while (const auto more = owners_[m]->more()) TRY(hear(m, *more));
    }
    check(learner_.finished());
    return {};
  }
  const std::vector<protocol::Opened>& opened(size_t owner) const {
    return dynamic_cast<const protocol::VerticalOwner&>(*owners_[owner]).opened();
  }

 private:
  Result<void> hear(size_t owner, const Bytes& message) {
    protocol::Step step = TRY(learner_.step(owner, message));
    for (protocol::Outgoing& out : step.messages) post_.push_back(std::move(out));
    return {};
  }

  protocol::VerticalLearner learner_;
  std::vector<std::unique_ptr<protocol::Owner>> owners_{};
  std::deque<protocol::Outgoing> post_{};
};

}  // namespace

Result<VerticalJob> play_vertical(const charter::Charter& charter,
                                  const std::vector<data::AnyRows>& rows, Entropy& entropy) {
  const uint64_t seed = entropy.word();
  std::vector<std::unique_ptr<sim::Party>> parties;
  std::optional<Secret32> dealer;
  if (protocol::has_dealer(charter)) dealer = protocol::draw_secret(entropy);
  Table table(TRY(protocol::vertical_plan(charter)), dealer);
  for (size_t m = 0; m < rows.size(); ++m) {
    parties.push_back(TRY(sim::Party::make({.charter = charter,
                                            .owner = m,
                                            .rows = rows[m],
                                            .policy = nullptr,
                                            .seed = seed,
                                            .run = 0,
                                            .ledger = {},
                                            .threads = 1})));
    TRY(table.seat(TRY(parties[m]->start())));
  }
  TRY(table.play());
  VerticalJob job;
  for (size_t m = 0; m < rows.size(); ++m) {
    job.opened.push_back(table.opened(m));
    job.epsilon.push_back(parties[m]->epsilon_spent());
  }
  return job;
}

}  // namespace parley::audit
