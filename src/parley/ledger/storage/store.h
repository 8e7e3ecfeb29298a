// Where the rows of a ledger are stored: in the tables of a database or, for simulation, in memory.
// A ledger in a file is believed only after its rows were checked: all of them, or all since the
// last checkpoint that the owner's key has signed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parley/ledger/storage/chain.h"
#include "parley/ledger/storage/sqlite.h"

namespace parley::ledger {

struct Loaded {
  std::string owner;
  std::string created;
  Hash key;  // of fingerprints
  Chain chain;
};

/// Reads and checks everything: format, chain, budgets, and the database itself. Hands each row on
/// once it is accepted.
Result<Loaded> load(Connection& db, const std::function<void(Row)>& each);

/// The same, but of the rows before the last checkpoint only what that says, where `key` has signed
/// it; nothing where it has not.
Result<std::optional<Loaded>> load_since_checkpoint(Connection& db, const SignKey& key);

/// What the first row of a ledger follows.
Hash origin_of(int64_t format, const std::string& owner, const std::string& created,
               ByteView genesis);
/// What its fingerprints are keyed with.
Hash key_of(ByteView genesis);

class Store {
 public:
  virtual ~Store() = default;

  /// An error if someone wrote past the lock since `chain` was loaded.
  virtual Result<void> expect_head(const Chain& chain) = 0;
  virtual Result<void> insert(const Row& row) = 0;
  virtual Result<void> put(const Dataset& dataset) = 0;
  /// The row of this number, if there is one; kIntegrity if it is not what its hash says.
  virtual Result<std::optional<Row>> find_row(int64_t id) = 0;
  /// The charge of this kind and round, likewise.
  virtual Result<std::optional<Row>> find_charge(const Hash& charter, privacy::ReleaseKind kind,
                                                 uint32_t round) = 0;
  /// As it stands in errors; empty in memory.
  virtual std::string file() const { return {}; }

  /// All of `work`, or nothing.
  template <class Work>
  Result<void> in_transaction(const Work& work) {
    TRY(begin());
    Result<void> done = work();
    if (done) done = commit();
    if (!done) roll_back();
    return done;
  }

 private:
  virtual Result<void> begin() = 0;
  virtual Result<void> commit() = 0;
  virtual void roll_back() = 0;
};

/// The tables of a database.
class Tables final : public Store {
 public:
  explicit Tables(Connection db) : db_(std::move(db)) {}

  Result<void> expect_head(const Chain& chain) override;
  Result<void> insert(const Row& row) override;
  Result<void> put(const Dataset& dataset) override;
  Result<std::optional<Row>> find_row(int64_t id) override;
  Result<std::optional<Row>> find_charge(const Hash& charter, privacy::ReleaseKind kind,
                                         uint32_t round) override;
  std::string file() const override { return db_.file(); }

 private:
  Result<void> begin() override { return db_.begin(); }
  Result<void> commit() override { return db_.commit(); }
  void roll_back() override { db_.roll_back(); }
  Result<std::optional<Row>> only_row(Statement& select);

  Connection db_;
};

/// For simulation, which may have a million owners: a list of rows. Data sets are in the chain.
class RowList final : public Store {
 public:
  Result<void> expect_head(const Chain&) override { return {}; }
  Result<void> insert(const Row& row) override;
  Result<void> put(const Dataset&) override { return {}; }
  Result<std::optional<Row>> find_row(int64_t id) override;
  Result<std::optional<Row>> find_charge(const Hash& charter, privacy::ReleaseKind kind,
                                         uint32_t round) override;

 private:
  Result<void> begin() override;
  Result<void> commit() override { return {}; }
  void roll_back() override { rows_.resize(before_); }

  std::vector<Row> rows_{};
  size_t before_ = 0;  // the transaction
};

}  // namespace parley::ledger
