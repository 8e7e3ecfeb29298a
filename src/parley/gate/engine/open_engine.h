// From a policy's data set with engine = "sql" to records that stay in their database.
#pragma once

#include "parley/charter/policy.h"
#include "parley/gate/engine/engine_sum.h"

namespace parley::gate {

/// The data set's table as its engine describes it: what statements are made from.
struct EngineTable {
  std::shared_ptr<data::sql::Engine> engine;
  data::sql::SqlTable table;
  data::sql::Dialect dialect;
};
Result<EngineTable> engine_table(const charter::Policy& policy, const charter::Dataset& data,
                                 const charter::Charter& charter, Stop stop = {});

/// Starts the child process of the data set; every job opens its own, and with it one snapshot.
/// `charter` has its bundle; whoever sets `stop` ends the child. What cannot be asked in SQL is
/// refused, naming the key.
Result<EngineRecords> open_engine(const charter::Policy& policy, const charter::Dataset& data,
                                  const charter::Charter& charter, Stop stop = {});

}  // namespace parley::gate
