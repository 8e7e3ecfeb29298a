// A whole job over the tiny records: two owners, one and two, with ledgers in memory.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "parley/learn/objective.h"
#include "parley/protocol/sync.h"
#include "support/ledgers.h"
#include "support/memory_ledger.h"
#include "support/tiny.h"

namespace parley::test {

inline constexpr uint32_t kAnswers = 4;
inline constexpr double kClip = 8, kBox = 2;

inline learn::Lattice lattice() { return *learn::Lattice::make(kClip, 24, 2); }

inline const SigningKey& key_of(int number) {
  static const SigningKey keys[] = {SigningKey::make(), SigningKey::make()};
  return keys[number - 1];
}

inline plan::SyncPlan some_plan() {
  return {
      .charter = {1, 2, 3},
      .owners = {{"one", 3, .6, key_of(1).public_key()}, {"two", 2, .4, key_of(2).public_key()}},
      .gamma = lattice().gamma(),
      .box = kBox,
      .l2 = 0,
      .schedule = learn::algorithm2(kAnswers, .5, learn::Average::kPaper, {.1, .1})};
}

/// An owner with its ledger; epsilon is the charter's.
struct TestOwner {
  StoppedClock clock;
  std::unique_ptr<Entropy> entropy;
  ledger::Ledger ledger;
  ledger::DatasetId dataset;
  std::shared_ptr<const data::Rows> rows;
  std::optional<protocol::SyncOwner> owner;

  TestOwner(int number, double epsilon,
            std::unique_ptr<Entropy> noise = std::make_unique<SystemEntropy>())
      : entropy(std::move(noise)),
        ledger(memory_ledger(number == 1 ? "one" : "two", clock)),
        dataset(*ledger.declare(
            "data", *privacy::Budget::make(*privacy::Epsilon::make(epsilon), 0, epsilon))),
        rows(std::make_shared<data::Rows>(tiny_owner(number))) {
    restart(epsilon, key_of(number));
  }
  /// A new process over the same ledger.
  void restart(double epsilon, const SigningKey& key) {
    plan::Terms terms{
        .charter = some_plan().charter,
        .rows = rows->size(),
        .answers = kAnswers,
        .box = kBox,
        .unit_records = 1,
        .loss = learn::Squared{},
        .lattice = lattice(),
        .mechanism = *privacy::Laplace::calibrate(plan::sensitivity<L1>(lattice(), 1), kAnswers,
                                                  *privacy::Epsilon::make(epsilon))};
    owner.emplace(terms.charter, rows->size() == 3 ? "one" : "two",
                  *gate::Gate::open(gate::Records(rows), terms, ledger, dataset, *entropy, 1), key);
  }
  /// Opens a stream; what the learner sends is a welcome and, perhaps, a query.
  std::vector<protocol::Outgoing> attend(protocol::SyncLearner& learner, size_t place) {
    learner.attend(place);
    return learner.step(place, owner->connect())->messages;
  }
  /// The last reply to these messages.
  std::optional<Bytes> reply(const std::vector<protocol::Outgoing>& messages) {
    std::optional<Bytes> last;
    for (const protocol::Outgoing& each : messages) last = *owner->step(each.message);
    return last;
  }
};

/// Algorithm 2 on the pooled, unclipped records: what the job comes to as noise vanishes.
inline std::vector<double> tiny_reference() {
  learn::Descent reference(some_plan().schedule, kBox, 0, 1);
  while (!reference.finished()) {
    std::vector<double> gradient(2);
    for (int number : {1, 2}) {
      const auto mean = learn::mean_gradient(learn::Squared{}, tiny_owner(number),
                                             reference.theta(0), learn::ClipIn::kNone, 0);
      for (size_t j = 0; j < 2; ++j) gradient[j] += (number == 1 ? .6 : .4) * mean[j];
    }
    reference.step(gradient);
  }
  return {reference.average(0).begin(), reference.average(0).end()};
}

}  // namespace parley::test
