// A simulated owner whose records lie in a database.
#pragma once

#include "parley/charter/charter.h"
#include "parley/data/rows.h"
#include "parley/gate/engine/engine_sum.h"

namespace parley::sim {

using DatabaseRecords = gate::EngineRecords;

/// The rows in an SQLite file, as columns of the charter's schema, which has numbers only, and its
/// target. The file has no name; the engine's process holds it, as long as the records live. The
/// engine has been tried for the charter's terms.
Result<DatabaseRecords> records_in_sqlite(const charter::Charter& charter, size_t owner,
                                          const data::Rows& rows);

}  // namespace parley::sim
