// What a ledger object holds, and how a row is added. For ledger*.cc only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "parley/ledger/ledger.h"
#include "parley/ledger/storage/lock.h"
#include "parley/ledger/storage/store.h"

namespace parley::ledger {

struct Ledger::State {
  Clock* clock;
  std::optional<Lock> lock;  // Outlives the connection.
  std::unique_ptr<Store> store;
  Chain chain;
};

/// The next row of `chain`, complete with its hash.
inline Row sealed(const Chain& chain, Clock& clock, Row row) {
  row.id = chain.size() + 1;
  row.at = clock.now();
  row.previous = chain.head();
  row.hash = hash_of(row);
  return row;
}

/// Of data sets, owners, units and people: they stand in JSON as they are.
Result<void> check_name(const std::string& name);

}  // namespace parley::ledger
