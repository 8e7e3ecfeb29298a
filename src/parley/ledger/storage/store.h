// Reading and writing the tables of a ledger; a ledger is believed only after all of it was
// checked.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "parley/ledger/storage/chain.h"
#include "parley/ledger/storage/sqlite.h"

namespace parley::ledger {

struct Loaded {
  std::string owner;
  std::string created;
  Chain chain;
};

/// Reads and checks everything: format, chain, budgets, and the database itself. Hands each row on
/// once it is accepted.
Result<Loaded> load(Connection& db, const std::function<void(Row)>& each);

/// An error if someone wrote past the lock since `chain` was loaded.
Result<void> expect_head(Connection& db, const Chain& chain);

Result<void> insert(Connection& db, const Row& row);
Result<void> put(Connection& db, const Dataset& dataset);

/// The row of this number, if there is one; kIntegrity if it is not what its hash says.
Result<std::optional<Row>> find_row(Connection& db, int64_t id);
/// Whether a row has this hash.
Result<bool> has_row(Connection& db, const Hash& hash);

}  // namespace parley::ledger
