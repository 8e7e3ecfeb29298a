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

Result<EngineRecords> open_engine(const charter::Policy& policy, const charter::Dataset& data,
                                  const charter::Charter& charter, Stop stop) {
  TRY(plan::check_sql(charter));
  data::sql::SqlTable table{.query = data.query,
                            .select = TRY(charter::selection_of(policy, data, charter)),
                            .order = data.unit_order};
  auto engine = TRY(data::sql::Engine::start(settings_of(policy, data, stop)));
  table.columns = engine->columns();
  return EngineRecords(EngineRows{std::move(engine), std::move(table), charter.schema});
}

}  // namespace parley::gate
