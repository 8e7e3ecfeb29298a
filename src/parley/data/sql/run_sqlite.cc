#include <sqlite3.h>

#include "parley/data/sql/run.h"

namespace parley::data::sql {
namespace {

struct CloseRun {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using RunDatabase = std::unique_ptr<sqlite3, CloseRun>;
using RunStatement = std::unique_ptr<sqlite3_stmt, CloseRun>;

class SqliteRunner : public Runner {
 public:
  explicit SqliteRunner(RunDatabase database) : database_(std::move(database)) {}

  Result<std::vector<TableColumn>> describe(const std::string& query) override {
    const RunStatement statement = TRY(prepare(query));
    if (sqlite3_column_count(statement.get()) == 0 || !sqlite3_stmt_readonly(statement.get()))
      return Error{Code::kInvalid,
                   "is not one statement that gives rows",
                   "For example \"select * from loans\".",
                   {.key = "query"}};
    std::vector<TableColumn> columns;
    for (int i = 0; i < sqlite3_column_count(statement.get()); ++i)
      columns.push_back({sqlite3_column_name(statement.get(), i), Kind::kAny});
    return columns;
  }

  Result<std::vector<int64_t>> run(const std::string& text,
                                   const std::vector<Value>& values) override {
    const RunStatement statement = TRY(prepare(text));
    for (size_t i = 0; i < values.size(); ++i)
      bind(statement.get(), static_cast<int>(i) + 1, values[i]);
    const int result = sqlite3_step(statement.get());
    if (result != SQLITE_ROW)  // The code alone: SQLite's text might quote a record.
      return Error{Code::kFailed, std::string("SQLite says: ") + sqlite3_errstr(result)};
    std::vector<int64_t> numbers;
    for (int i = 0; i < sqlite3_column_count(statement.get()); ++i)
      numbers.push_back(sqlite3_column_int64(statement.get(), i));
    return numbers;
  }

 private:
  static void bind(sqlite3_stmt* statement, int at, const Value& value) {
    if (const auto* real = std::get_if<double>(&value)) {
      sqlite3_bind_double(statement, at, *real);
    } else if (const auto* whole = std::get_if<int64_t>(&value)) {
      sqlite3_bind_int64(statement, at, *whole);
    } else {
      const auto& text = std::get<std::string>(value);
      sqlite3_bind_text(statement, at, text.data(), static_cast<int>(text.size()),
                        SQLITE_TRANSIENT);
    }
  }

  Result<RunStatement> prepare(const std::string& text) {
    sqlite3_stmt* raw = nullptr;
    const int result = sqlite3_prepare_v2(database_.get(), text.c_str(), -1, &raw, nullptr);
    RunStatement statement(raw);
    if (result != SQLITE_OK || !raw)  // Nothing was read yet: the text tells about the query alone.
      return Error{Code::kInvalid,
                   std::string("SQLite says: ") + sqlite3_errmsg(database_.get()),
                   "Try the query with sqlite3.",
                   {.key = "query"}};
    return statement;
  }

  RunDatabase database_;
};

}  // namespace

Result<std::unique_ptr<Runner>> open_sqlite(const std::filesystem::path& file) {
  sqlite3* raw = nullptr;
  const int result =
      sqlite3_open_v2(file.c_str(), &raw, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
  RunDatabase database(raw);
  if (result != SQLITE_OK)
    return Error{Code::kInvalid,
                 std::string("cannot read: ") + sqlite3_errstr(result),
                 "Check the path.",
                 {.file = file.string()}};
  sqlite3_busy_timeout(raw, 10'000);
  // Whoever made the file must not make us run what is in it.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  if (sqlite3_exec(raw, "begin", nullptr, nullptr, nullptr) != SQLITE_OK)
    return Error{Code::kFailed, "cannot begin to read", "", {.file = file.string()}};
  return std::unique_ptr<Runner>(std::make_unique<SqliteRunner>(std::move(database)));
}

}  // namespace parley::data::sql
