// The state of a simulated owner of one run that survives a crash of its process: its records, its
// own ledger, its own entropy.
#pragma once

#include <filesystem>
#include <map>
#include <memory>

#include "parley/base/clock.h"
#include "parley/charter/charter.h"
#include "parley/charter/policy.h"
#include "parley/data/any_rows.h"
#include "parley/gate/columns_gate.h"
#include "parley/gate/gate.h"
#include "parley/ledger/ledger.h"
#include "parley/protocol/make_owner.h"
#include "parley/sim/engine/database.h"
#include "parley/sim/seeded_entropy.h"
#include "parley/sim/simulate.h"
#include "parley/wire/transcript.h"

namespace parley::sim {

/// Time in a simulation: one second per reading, from the year 2000.
class SimulatedClock final : public Clock {
 public:
  int64_t unix_seconds() override { return 946684800 + ticks_++; }

 private:
  int64_t ticks_ = 0;
};

/// Secure aggregation signs, in a simulation too: with keys that everyone could make.
SigningKey simulated_key(const std::string& owner);
/// What a learner notes of an owner that has signed the charter, and perhaps never comes again.
wire::Note simulated_approval(const charter::Charter& charter, const std::string& owner);

/// Where the first run of a simulation leaves an owner's ledger.
std::filesystem::path ledger_file(const std::filesystem::path& out, const std::string& owner);

/// Makes room for the ledgers that the first run leaves under `out`. Only those are ever replaced.
Result<void> clear_ledgers(const charter::Charter& charter, const std::filesystem::path& out);

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
    const data::Rows* pilot = nullptr;          // the charter's public rows
    std::optional<DatabaseRecords> database{};  // instead of rows
    /// Of an owner of columns: the hash of its ids, and where its files go, nowhere if that is
    /// empty. Its secret (protocol/vertical/owner.h) follows from the seed unless it is given.
    Hash records{};
    std::filesystem::path keep{};
    std::optional<Secret32> secret{};
  };
  static Result<std::unique_ptr<Party>> make(const Setting& setting);
  /// An owner of a simulation; its files are kept in the first run, if anything is.
  static Result<std::unique_ptr<Party>> make(const SimulateInput& input,
                                             const SimulateOptions& options, size_t owner,
                                             uint64_t run,
                                             const std::optional<Secret32>& secret = std::nullopt);

  /// A process of this owner in a job of its charter, or in another on the same ledger that has an
  /// owner of this name. It must not outlive the party.
  Result<std::unique_ptr<protocol::Owner>> start() { return start(setting_.charter); }
  Result<std::unique_ptr<protocol::Owner>> start(const charter::Charter& job);
  /// Its records behind a gate, where no protocol::Owner answers.
  Result<gate::Gate> open_gate();
  /// Its columns, likewise.
  Result<gate::ColumnsGate> open_columns_gate();
  Entropy& entropy() { return entropy_; }
  const std::string& name() const { return setting_.charter.owners[setting_.owner].name; }
  /// What the job has spent, at the budget's delta.
  double epsilon_spent() const;
  /// Rounds in its ledger.
  uint32_t answers() const { return ledger_.last_round(setting_.charter.hash); }

 private:
  Party(std::unique_ptr<Clock> clock, ledger::Ledger ledger, ledger::DatasetId dataset,
        const privacy::Budget& budget, const Setting& setting);

  /// In the charter of a job.
  size_t place_in(const charter::Charter& job) const;
  gate::AnyRecords records() const;
  protocol::ColumnsSetting columns();

  Setting setting_;
  std::unique_ptr<Clock> clock_;
  ledger::Ledger ledger_;
  ledger::DatasetId dataset_;
  privacy::Budget budget_;
  SeededEntropy entropy_;
  std::map<std::string, std::string> files_{};  // like the ledger they outlive a process
};

}  // namespace parley::sim
