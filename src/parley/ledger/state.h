// What a ledger object holds, and how a row is added. For ledger*.cc only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "parley/ledger/ledger.h"
#include "parley/ledger/storage/lock.h"
#include "parley/ledger/storage/store.h"
#include "parley/ledger/storage/witness.h"

namespace parley::ledger {

struct Ledger::State {
  Clock* clock;
  std::optional<Lock> lock;  // Outlives the connection.
  std::unique_ptr<Store> store;
  Chain chain;
  Hash fingerprints{};  // their key
  Keeping keeping{};
  std::optional<Witness> witness{};
};

/// A chain as it will be. It becomes true when the transaction is committed.
struct Addition {
  Chain after;
  Store& store;
  Clock& clock;

  Result<Row> add(Row row);
  Result<Row> add_budget(const Dataset& dataset);
  Result<Row> add_note(int64_t dataset, const Hash& charter, int64_t round, const Hash& query,
                       const Note& note);
};

/// The next row of `chain`, complete with its hash.
inline Row sealed(const Chain& chain, Clock& clock, Row row) {
  row.id = chain.size() + 1;
  row.at = clock.now();
  row.previous = chain.head();
  row.hash = hash_of(row);
  return row;
}

/// All of `work`, which adds rows, or nothing; in one transaction.
template <class Work>
Result<void> Ledger::append(const Work& work) {
  TRY(catch_up());
  Addition addition{state_->chain, *state_->store, *state_->clock};
  TRY(state_->store->in_transaction([&]() -> Result<void> {
    TRY(state_->store->expect_head(state_->chain));
    TRY(work(addition));
    return addition.after.is_complete();
  }));
  state_->chain = std::move(addition.after);
  tell_witness();
  return {};
}

/// Of data sets, owners, units and people: they stand in JSON as they are.
Result<void> check_name(const std::string& name);

}  // namespace parley::ledger
