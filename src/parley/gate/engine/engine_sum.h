// The first arrow of the road where records stay in a database: the owner's child process runs one
// statement, and integers come back. learn/sql/select.h proves that no record moves them by more
// than its bound.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "parley/data/sql/engine.h"
#include "parley/plan/sums/sql.h"
#include "parley/privacy/flow.h"

namespace parley::gate {

/// An owner's database, opened for one charter.
struct EngineRows {
  std::shared_ptr<data::sql::Engine> engine;
  data::sql::SqlTable table;
  data::Schema schema;
  /// Statements that were already tried, and their job: see EngineSum::tried.
  std::optional<plan::SqlQuestions> questions{};
  Hash job{};
};

/// An opened database; only the gate can ask it.
using EngineRecords = privacy::Raw<EngineRows>;

class EngineSum {
 public:
  /// What the terms ask, as statements. Before it returns, the engine has counted the charter's
  /// rows, and made the sums of rows that are no one's as the kernel makes them (self_check.h).
  static Result<plan::SqlQuestions> questions(const EngineRecords& records,
                                              const plan::Terms& terms);

  /// The same records, with the questions of these terms: whoever opens a gate may do so before it
  /// takes the ledger's lock, since the database may need long.
  static Result<EngineRecords> tried(EngineRecords records, const plan::Terms& terms);

  /// The sum at theta that the statement makes; of another number of rows than the charter's it is
  /// an error.
  template <class Norm>
  static Result<privacy::Bounded<Norm>> answer(const EngineRecords& records,
                                               const data::sql::Statement& statement,
                                               std::span<const double> theta, uint64_t rows,
                                               double sensitivity);
};

}  // namespace parley::gate
