#include "parley/gate/engine/open_engine.h"

namespace parley::gate {
namespace {

data::sql::EngineSettings settings_of(const charter::Policy& policy, const charter::Dataset& data,
                                      Stop stop) {
  using charter::Source;
  data::sql::EngineSettings settings{.command = data.command,
                                     .dsn = data.dsn,
                                     .query = data.query,
                                     .patience = std::chrono::seconds(policy.database_s),
                                     .stop = stop};
  if (!data.path.empty()) settings.path = (policy.folder / data.path).string();
  if (data.source == Source::kCommand)
    settings.dialect = *data::sql::dialect_named(data.dialect);  // The policy was checked.
  else
    settings.dialect = data.source == Source::kPostgres ? data::sql::Dialect::kPostgresql
                                                        : data::sql::Dialect::kSqlite;
  return settings;
}

}  // namespace

Result<EngineTable> engine_table(const charter::Policy& policy, const charter::Dataset& data,
                                 const charter::Charter& charter, Stop stop) {
  TRY(plan::check_sql(charter));
  data::sql::SqlTable table{.query = data.query,
                            .select = TRY(charter::selection_of(policy, data, charter)),
                            .order = data.unit_order};
  const data::sql::EngineSettings settings = settings_of(policy, data, stop);
  auto engine = TRY(data::sql::Engine::start(settings));
  table.columns = engine->columns();
  return EngineTable{std::move(engine), std::move(table), settings.dialect};
}

Result<EngineRecords> open_engine(const charter::Policy& policy, const charter::Dataset& data,
                                  const charter::Charter& charter, Stop stop) {
  EngineTable found = TRY(engine_table(policy, data, charter, stop));
  return EngineRecords(EngineRows{std::move(found.engine), std::move(found.table), charter.schema});
}

}  // namespace parley::gate
