#include "parley/data/sources/postgres.h"

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/data/sources/libpq.h"
#include "parley/data/sources/postgres_copy.h"

namespace parley::data {
namespace {

/// What the server complains about. Only complaints about the query itself (class 42: syntax,
/// names, rights; 25006: it would write) are quoted: others may hold a value of a record ("invalid
/// input syntax ...").
Error failure(const PGresult* result) {
  const char* state = libpq().resultErrorField(result, PG_DIAG_SQLSTATE);
  const char* said = libpq().resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const std::string code = state ? state : "unknown";
  const bool about_query = (code.starts_with("42") || code == "25006") && said;
  return {about_query ? Code::kInvalid : Code::kFailed,
          "PostgreSQL refuses the query, SQLSTATE " + code +
              (about_query ? std::string(": ") + said : ""),
          "Try the query with psql.",
          {.key = "query"}};
}

class Connection {
 public:
  static Result<Connection> open(const std::string& dsn) {
    Connection connection;
    connection.raw_ = TRY(connect_to_postgresql(dsn));
    return connection;
  }

  Result<PqAnswer> run(const std::string& sql, ExecStatusType expected) {
    PqAnswer answer(libpq().exec(raw_.get(), sql.c_str()));
    if (libpq().resultStatus(answer.get()) != expected) return failure(answer.get());
    return answer;
  }

  /// Names and types of the columns that the query gives.
  Result<PqAnswer> describe(const std::string& query) {
    PqAnswer prepared(libpq().prepare(raw_.get(), "", query.c_str(), 0, nullptr));
    if (libpq().resultStatus(prepared.get()) != PGRES_COMMAND_OK) return failure(prepared.get());
    PqAnswer described(libpq().describePrepared(raw_.get(), ""));
    if (libpq().resultStatus(described.get()) != PGRES_COMMAND_OK) return failure(described.get());
    return described;
  }

  /// Hands over each message of a COPY that was started, then how it ended.
  template <class Take>
  Result<void> copy(const Take& take) {
    for (;;) {
      char* raw = nullptr;
      const int size = libpq().getCopyData(raw_.get(), &raw, 0);
      const std::unique_ptr<char, FreePq> message(raw);
      if (size < 0) break;
      TRY(take({raw, static_cast<size_t>(size)}));
    }
    const PqAnswer end(libpq().getResult(raw_.get()));
    if (libpq().resultStatus(end.get()) != PGRES_COMMAND_OK) return failure(end.get());
    return {};
  }

 private:
  PqConnection raw_{};
};

/// Columns of the query; the wanted ones are of types that can be read.
Result<std::vector<PgType>> take_header(const PGresult* described, Intake& intake) {
  std::vector<std::string> names;
  std::vector<PgType> types;
  for (int i = 0; i < libpq().nfields(described); ++i) {
    names.emplace_back(libpq().fname(described, i));
    types.push_back(static_cast<PgType>(libpq().ftype(described, i)));
  }
  if (names.empty())
    return Error{Code::kInvalid,
                 "is not a query that gives rows",
                 "For example \"select * from loans\".",
                 {.key = "query"}};
  TRY(intake.take_header(names, [](size_t) { return Where{}; }));
  for (size_t i : intake.positions())
    if (!is_readable(static_cast<uint32_t>(types[i])))
      return Error{Code::kInvalid,
                   "this column is of a type that cannot be read",
                   "Cast it in the query, for example \"" + names[i] + "\"::text.",
                   {.key = names[i]}};
  return types;
}

Result<CountedRows> read(const std::string& dsn, const std::string& query, Intake intake) {
  Connection connection = TRY(Connection::open(dsn));
  TRY(connection.run("SET client_encoding TO 'UTF8'", PGRES_COMMAND_OK));
  TRY(connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", PGRES_COMMAND_OK));
  const PqAnswer described = TRY(connection.describe(query));
  const std::vector<PgType> types = TRY(take_header(described.get(), intake));
  TRY(connection.run("COPY (" + query + "\n) TO STDOUT (FORMAT binary)", PGRES_COPY_OUT));
  CopyRows rows(types.size());
  std::vector<std::string> scratch(types.size());
  bool damaged = false;
  TRY(connection.copy([&](std::string_view message) -> Result<void> {
    if (!TRY(rows.take(message))) return {};
    intake.add([&](size_t i) {
      const auto& field = rows.fields()[i];
      if (!field) return Cell{};
      const auto cell = cell_of(types[i], *field, scratch[i]);
      damaged |= !cell;
      return cell.value_or(Cell{});
    });
    if (intake.failure()) return *intake.failure();
    return {};
  }));
  if (damaged)
    return Error{Code::kFailed, "the database sent values that are not of their column's type"};
  return std::move(intake).finish();
}

}  // namespace

Result<CountedRows> read_postgres(const std::string& dsn, const std::string& query,
                                  const Schema& schema, const Selection& select, bool labels) {
  const size_t end = query.find_last_not_of(" \t\r\n;");  // COPY takes no semicolon.
  return read(dsn, query.substr(0, end == std::string::npos ? 0 : end + 1),
              Intake(schema, select, '.', labels));
}

}  // namespace parley::data
