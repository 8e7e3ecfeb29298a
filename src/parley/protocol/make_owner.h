// Makes the owner of any charter, with its records behind a gate: one line per protocol.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "parley/base/crypto/shamir.h"
#include "parley/charter/charter.h"
#include "parley/learn/model.h"
#include "parley/learn/vertical/alignment.h"
#include "parley/protocol/owner.h"

namespace parley::protocol {

/// What an owner of columns brings besides them.
struct ColumnsSetting {
  Hash records{};  // of the aligned ids, or of all that are here before
  std::optional<learn::Alignment> alignment{};  // where owners first find out what all of them hold
  Secret32 secret{};                            // the same when the process restarts
  learn::Training training{};                   // with a seed where it is a simulation
  /// Keeps a file of the job on this owner's disk; without it nothing is kept.
  std::function<Result<void>(const std::string& name, const std::string& text)> keep{};
  /// What was kept under this name, perhaps by an earlier process; empty if nothing was.
  std::function<Result<std::string>(const std::string& name)> kept{};
};

struct OwnerSetting {
  const charter::Charter& charter;
  size_t place = 0;  // in the charter
  gate::AnyRecords records;
  ledger::Ledger& ledger;
  ledger::DatasetId dataset;
  std::optional<SigningKey> key{};  // without one nothing is signed: a simulation
  Entropy& entropy;
  int threads = 1;
  const data::Rows* pilot = nullptr;  // the charter's public rows; needed for rule "distance" only
  ColumnsSetting columns{};           // where owners hold columns
  Stop stop{};                        // ends a pass over records, and what it was for is not paid
};

/// The records behind a gate. Refuses a job that they do not fit or that the budget cannot pay to
/// its end; nothing is spent. Ledger and entropy must outlive it.
Result<std::unique_ptr<Owner>> make_owner(OwnerSetting setting);

}  // namespace parley::protocol
