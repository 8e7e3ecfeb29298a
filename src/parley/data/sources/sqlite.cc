#include "parley/data/sources/sqlite.h"

#include <sqlite3.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

namespace parley::data {
namespace {

struct CloseSqlite {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseSqlite>;
using Statement = std::unique_ptr<sqlite3_stmt, CloseSqlite>;

Error error(Code code, const std::string& said, std::string hint) {
  return {code, "SQLite says: " + said, std::move(hint), {.key = "query"}};
}

Result<Database> open(const std::filesystem::path& file) {
  sqlite3* raw = nullptr;
  const int result =
      sqlite3_open_v2(file.c_str(), &raw, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(raw);  // Also a failed open leaves something to close.
  if (result != SQLITE_OK)
    return Error{Code::kInvalid, std::string("cannot read: ") + sqlite3_errstr(result),
                 "Check the path."};
  sqlite3_busy_timeout(raw, 10'000);
  // Whoever made the file must not make us run what is in it.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return database;
}

Result<Statement> prepare(sqlite3* database, const std::string& query) {
  constexpr auto kHint = "A query is one SELECT, for example \"select * from loans\".";
  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  const int result = sqlite3_prepare_v2(database, query.c_str(), -1, &raw, &rest);
  Statement statement(raw);
  if (result != SQLITE_OK)  // Nothing was read yet: the text tells about the query alone.
    return error(Code::kInvalid, sqlite3_errmsg(database), kHint);
  const bool more = std::string_view(rest).find_first_not_of(" \t\r\n;") != std::string_view::npos;
  if (more || !raw || sqlite3_column_count(raw) == 0 || !sqlite3_stmt_readonly(raw))
    return Error{Code::kInvalid, "is not one statement that gives rows", kHint, {.key = "query"}};
  return statement;
}

Cell cell_of(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return Cell::of(int64_t{sqlite3_column_int64(statement, column)});
    case SQLITE_FLOAT:
      return Cell::of(sqlite3_column_double(statement, column));
    case SQLITE_NULL:
      return {};
    default: {
      const void* data = sqlite3_column_blob(statement, column);
      const auto size = static_cast<size_t>(sqlite3_column_bytes(statement, column));
      return Cell::of({static_cast<const char*>(data), data == nullptr ? 0 : size});
    }
  }
}

Result<CountedRows> read(const std::filesystem::path& file, const std::string& query,
                         Intake intake) {
  const Database database = TRY(open(file));
  const Statement statement = TRY(prepare(database.get(), query));
  std::vector<std::string> names;
  for (int i = 0; i < sqlite3_column_count(statement.get()); ++i)
    names.emplace_back(sqlite3_column_name(statement.get(), i));
  TRY(intake.take_header(names, [](size_t) { return Where{}; }));
  int result;
  while ((result = sqlite3_step(statement.get())) == SQLITE_ROW) {
    intake.add([&](size_t i) { return cell_of(statement.get(), static_cast<int>(i)); });
    if (intake.failure()) return *intake.failure();
  }
  if (result != SQLITE_DONE)  // The code alone: SQLite's text might quote a record.
    return error(Code::kFailed, sqlite3_errstr(result), "");
  return std::move(intake).finish();
}

/// What SQLite says while it prepares a query: what it will read.
int note_table(void* tables, int action, const char* table, const char*, const char*, const char*) {
  if (action == SQLITE_READ && table) static_cast<std::set<std::string>*>(tables)->insert(table);
  return SQLITE_OK;
}

bool is_a_table(sqlite3* database, const std::string& name) {
  const auto statement = prepare(
      database, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name = ?");
  return statement &&
         sqlite3_bind_text(statement->get(), 1, name.c_str(), -1, SQLITE_TRANSIENT) == SQLITE_OK &&
         sqlite3_step(statement->get()) == SQLITE_ROW;
}

/// A value counts as its text, whatever type a copy gave it.
std::optional<Hash> digest_of(sqlite3* database, const std::string& table) {
  constexpr size_t kRows = 100, kBytes = 4096;
  std::string quoted;
  for (const char c : table) quoted += c == '"' ? "\"\"" : std::string(1, c);
  const auto statement = prepare(database, "SELECT * FROM \"" + quoted + "\"");
  if (!statement) return std::nullopt;
  TupleBytes bytes;
  size_t rows = 0;
  for (; rows < kRows && sqlite3_step(statement->get()) == SQLITE_ROW; ++rows)
    for (int i = 0; i < sqlite3_column_count(statement->get()); ++i) {
      const void* value = sqlite3_column_blob(statement->get(), i);
      const auto size = static_cast<size_t>(sqlite3_column_bytes(statement->get(), i));
      bytes.add(std::string_view(static_cast<const char*>(value), std::min(size, kBytes)));
    }
  return rows == 0 ? std::nullopt : std::optional(bytes.sha256());
}

}  // namespace

std::vector<Hash> sqlite_digests(const std::filesystem::path& file, const std::string& query) {
  const auto database = open(file);
  if (!database) return {};
  std::set<std::string> tables;
  sqlite3_set_authorizer(database->get(), note_table, &tables);
  const auto statement = prepare(database->get(), query);
  sqlite3_set_authorizer(database->get(), nullptr, nullptr);
  std::vector<Hash> digests;
  for (const std::string& table : tables)
    if (is_a_table(database->get(), table))
      if (const auto digest = digest_of(database->get(), table)) digests.push_back(*digest);
  return digests;
}

Result<CountedRows> read_sqlite(const std::filesystem::path& file, const std::string& query,
                                const Schema& schema, const Selection& select, bool labels) {
  auto rows = read(file, query, Intake(schema, select, '.', labels));
  if (rows) return rows;
  Error error = rows.error();
  error.where.file = file.string();
  return error;
}

}  // namespace parley::data
