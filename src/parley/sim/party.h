// What a simulated owner of one run keeps, also when its process crashes: its records, its own
// ledger, its own entropy.
#pragma once

#include <filesystem>
#include <memory>

#include "parley/base/clock.h"
#include "parley/charter/charter.h"
#include "parley/charter/policy.h"
#include "parley/data/any_rows.h"
#include "parley/gate/columns_gate.h"
#include "parley/gate/gate.h"
#include "parley/ledger/ledger.h"
#include "parley/protocol/owner.h"
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
    data::AnyRows rows;
    const charter::Policy* policy;  // null: the charter's epsilon is the whole budget
    uint64_t seed;
    uint64_t run;
    std::filesystem::path ledger;  // empty: in memory
    int threads;
  };
  static Result<std::unique_ptr<Party>> make(const Setting& setting);

  /// A process of this owner: its records behind a gate, which must not outlive the party.
  Result<gate::Gate> open_gate() { return open_gate(charter_); }
  /// In another job on the same ledger, which has an owner of this name.
  Result<gate::Gate> open_gate(const charter::Charter& job);
  /// The same under secure aggregation; its charter has the keys of federated.h.
  Result<std::unique_ptr<protocol::Owner>> open_federated();
  /// Its columns, in a sharing job.
  Result<gate::ColumnsGate> open_columns_gate();
  size_t place() const { return place_; }
  Entropy& entropy() { return entropy_; }
  const std::string& name() const { return charter_.owners[place_].name; }
  /// What the job has spent, at the budget's delta.
  double epsilon_spent() const;
  /// Rounds in its ledger.
  uint32_t answers() const { return ledger_.last_round(charter_.hash); }

 private:
  Party(std::unique_ptr<Clock> clock, ledger::Ledger ledger, ledger::DatasetId dataset,
        const privacy::Budget& budget, const Setting& setting);

  const charter::Charter& charter_;
  size_t place_;
  data::AnyRows rows_;
  int threads_;
  std::unique_ptr<Clock> clock_;
  ledger::Ledger ledger_;
  ledger::DatasetId dataset_;
  privacy::Budget budget_;
  SeededEntropy entropy_;
};

}  // namespace parley::sim
