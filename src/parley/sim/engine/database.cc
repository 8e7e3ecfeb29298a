#include "parley/sim/engine/database.h"

#include <sqlite3.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>

#include "parley/plan/sums/sql.h"
#include "parley/plan/terms.h"

namespace parley::sim {
namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

/// Removed with the file in it.
struct Folder {
  std::string path;
  ~Folder() {
    std::error_code ignored;
    if (!path.empty()) std::filesystem::remove_all(path, ignored);
  }
};

std::string column_list(const data::Schema& schema, const std::string& after) {
  std::string list;
  for (const data::Column& column : schema.columns)
    list += data::sql::quoted(data::sql::Dialect::kSqlite, column.name) + after + ", ";
  return list + data::sql::quoted(data::sql::Dialect::kSqlite, schema.target.column) + after;
}

/// The number or level that a label stands for.
void bind_label(sqlite3_stmt* statement, int at, const data::Target& target, double label) {
  if (target.levels.empty())
    sqlite3_bind_double(statement, at, target.center + target.scale * label);
  else
    sqlite3_bind_text(statement, at, target.levels[label > 0].c_str(), -1, SQLITE_TRANSIENT);
}

bool fill(sqlite3* database, const data::Schema& schema, const data::Rows& rows) {
  const auto run = [&](const std::string& sql) {
    return sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  };
  if (!run("create table records (" + column_list(schema, "") + ")") || !run("begin")) return false;
  std::string places = "?";
  for (size_t j = 0; j < rows.columns(); ++j) places += ", ?";
  sqlite3_stmt* raw = nullptr;
  sqlite3_prepare_v2(database, ("insert into records values (" + places + ")").c_str(), -1, &raw,
                     nullptr);
  const std::unique_ptr<sqlite3_stmt, CloseDatabase> statement(raw);
  for (size_t i = 0; raw != nullptr && i < rows.size(); ++i) {
    for (size_t j = 0; j < rows.columns(); ++j)
      sqlite3_bind_double(raw, static_cast<int>(j) + 1, rows.row(i)[j]);
    bind_label(raw, static_cast<int>(rows.columns()) + 1, schema.target, rows.label(i));
    if (sqlite3_step(raw) != SQLITE_DONE || sqlite3_reset(raw) != SQLITE_OK) return false;
  }
  return raw != nullptr && run("commit");
}

}  // namespace

Result<DatabaseRecords> records_in_sqlite(const charter::Charter& charter, size_t owner,
                                          const data::Rows& rows) {
  TRY(plan::check_sql(charter));
  std::error_code none;
  Folder folder{(std::filesystem::temp_directory_path(none) / "parley-XXXXXX").string()};
  if (mkdtemp(folder.path.data()) == nullptr)
    return Error{Code::kFailed, "no temporary folder could be made", "See TMPDIR."};
  const std::string file = folder.path + "/records.db";
  sqlite3* raw = nullptr;
  bool filled = sqlite3_open(file.c_str(), &raw) == SQLITE_OK;
  const std::unique_ptr<sqlite3, CloseDatabase> database(raw);
  filled = filled && fill(raw, charter.schema, rows);
  if (!filled) return Error{Code::kFailed, "no temporary database could be made", "See TMPDIR."};
  data::sql::SqlTable table{.query = "select * from records"};
  auto engine = TRY(data::sql::Engine::start(
      {.dialect = data::sql::Dialect::kSqlite, .path = file, .query = table.query}));
  table.columns = engine->columns();
  return gate::EngineSum::tried(
      DatabaseRecords(gate::EngineRows{std::move(engine), std::move(table), charter.schema}),
      TRY(plan::terms_for(charter, owner)));
}

}  // namespace parley::sim
