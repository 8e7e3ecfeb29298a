// One simulated owner of one run: its records behind a gate, its own ledger, its own entropy.
#pragma once

#include <filesystem>
#include <memory>

#include "parley/base/clock.h"
#include "parley/charter/charter.h"
#include "parley/charter/policy.h"
#include "parley/learn/data/any_rows.h"
#include "parley/ledger/ledger.h"
#include "parley/protocol/sync.h"
#include "parley/sim/seeded_entropy.h"

namespace parley::sim {

/// Time in a simulation: one second per reading, from the year 2000.
class SimulatedClock final : public Clock {
 public:
  int64_t unix_seconds() override { return 946684800 + ticks_++; }

 private:
  int64_t ticks_ = 0;
};

class Party {
 public:
  struct Setting {
    const charter::Charter& charter;
    size_t owner;
    learn::AnyRows rows;
    const charter::Policy* policy;  // null: the charter's epsilon is the whole budget
    uint64_t seed;
    uint64_t run;
    std::filesystem::path ledger;  // empty: in memory
    int threads;
  };
  static Result<std::unique_ptr<Party>> make(const Setting& setting);

  protocol::SyncOwner& owner() { return *owner_; }
  /// What the job has spent, at the budget's delta.
  double epsilon_spent() const;

 private:
  Party(std::unique_ptr<Clock> clock, ledger::Ledger ledger, ledger::DatasetId dataset,
        const privacy::Budget& budget, const Setting& setting);

  std::unique_ptr<Clock> clock_;
  ledger::Ledger ledger_;
  ledger::DatasetId dataset_;
  privacy::Budget budget_;
  SeededEntropy entropy_;
  std::optional<protocol::SyncOwner> owner_;  // Points at the members above.
};

}  // namespace parley::sim
