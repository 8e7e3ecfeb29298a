#include <libpq-fe.h>

#include <bit>
#include <charconv>
#include <cstring>

#include "parley/data/sources/postgres_copy.h"
#include "parley/data/sql/run.h"

namespace parley::data::sql {
namespace {

struct ClosePg {
  void operator()(PGconn* connection) const { PQfinish(connection); }
  void operator()(PGresult* result) const { PQclear(result); }
};
using PgAnswer = std::unique_ptr<PGresult, ClosePg>;

/// Only complaints about the text itself (class 42) are quoted: others may hold a value.
Error pg_failure(const PGresult* result) {
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* said = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const std::string code = state ? state : "unknown";
  const bool about_query = code.starts_with("42") && said;
  return {about_query ? Code::kInvalid : Code::kFailed,
          "PostgreSQL refuses the query, SQLSTATE " + code +
              (about_query ? std::string(": ") + said : ""),
          "Try the query with psql.",
          {.key = "query"}};
}

Kind kind_of(Oid type) {
  switch (static_cast<PgType>(type)) {
    case PgType::kBool:
      return Kind::kBoolean;
    case PgType::kInt2:
    case PgType::kInt4:
    case PgType::kInt8:
      return Kind::kInteger;
    case PgType::kFloat4:
    case PgType::kFloat8:
      return Kind::kReal;
    case PgType::kNumeric:
      return Kind::kDecimal;
    case PgType::kText:
    case PgType::kChar:
    case PgType::kVarchar:
      return Kind::kText;
  }
  return Kind::kOther;
}

/// Parameters as the protocol has them: numbers in binary, big-endian.
struct Bound {
  std::vector<Oid> types{};
  std::vector<std::string> bytes{};
  std::vector<const char*> at{};
  std::vector<int> lengths{}, binary{};

  explicit Bound(const std::vector<Value>& values) {
    for (const Value& value : values) add(value);
    for (const std::string& text : bytes) at.push_back(text.c_str());
  }

  void add(const Value& value) {
    const auto* text = std::get_if<std::string>(&value);
    const auto* real = std::get_if<double>(&value);
    types.push_back(static_cast<Oid>(text   ? PgType::kText
                                     : real ? PgType::kFloat8
                                            : PgType::kInt8));
    if (text) {
      bytes.push_back(*text);
    } else {
      const uint64_t bits =
          real ? std::bit_cast<uint64_t>(*real) : static_cast<uint64_t>(std::get<int64_t>(value));
      std::string eight;
      for (int shift = 56; shift >= 0; shift -= 8) eight += static_cast<char>(bits >> shift & 0xff);
      bytes.push_back(eight);
    }
    lengths.push_back(static_cast<int>(bytes.back().size()));
    binary.push_back(!text);
  }
};

class PostgresqlRunner : public Runner {
 public:
  explicit PostgresqlRunner(PGconn* connection) : connection_(connection) {}

  Result<void> command(const char* text) {
    const PgAnswer answer(PQexec(connection_.get(), text));
    if (PQresultStatus(answer.get()) != PGRES_COMMAND_OK) return pg_failure(answer.get());
    return {};
  }

  Result<std::vector<TableColumn>> describe(const std::string& query) override {
    const size_t end = query.find_last_not_of(" \t\r\n;");
    const std::string text = query.substr(0, end == query.npos ? 0 : end + 1);
    const PgAnswer prepared(PQprepare(connection_.get(), "", text.c_str(), 0, nullptr));
    if (PQresultStatus(prepared.get()) != PGRES_COMMAND_OK) return pg_failure(prepared.get());
    const PgAnswer described(PQdescribePrepared(connection_.get(), ""));
    if (PQresultStatus(described.get()) != PGRES_COMMAND_OK) return pg_failure(described.get());
    std::vector<TableColumn> columns;
    for (int i = 0; i < PQnfields(described.get()); ++i)
      columns.push_back({PQfname(described.get(), i), kind_of(PQftype(described.get(), i))});
    return columns;
  }

  Result<std::vector<int64_t>> run(const std::string& text,
                                   const std::vector<Value>& values) override {
    const Bound bound(values);
    const PgAnswer answer(PQexecParams(
        connection_.get(), text.c_str(), static_cast<int>(values.size()), bound.types.data(),
        bound.at.data(), bound.lengths.data(), bound.binary.data(), 0));
    if (PQresultStatus(answer.get()) != PGRES_TUPLES_OK) return pg_failure(answer.get());
    std::vector<int64_t> numbers;
    for (int i = 0; i < PQnfields(answer.get()); ++i) {
      const char* begin = PQgetvalue(answer.get(), 0, i);
      int64_t number = 0;  // A sum of no rows is NULL, the empty text.
      std::from_chars(begin, begin + std::strlen(begin), number);
      numbers.push_back(number);
    }
    return numbers;
  }

 private:
  std::unique_ptr<PGconn, ClosePg> connection_;
};

}  // namespace

Result<std::unique_ptr<Runner>> open_postgresql(const std::string& dsn) {
  PGconn* raw = PQconnectdb(dsn.c_str());
  auto runner = std::make_unique<PostgresqlRunner>(raw);
  if (PQstatus(raw) != CONNECTION_OK) {
    const std::string said = PQerrorMessage(raw);
    return Error{Code::kUnavailable,
                 "cannot connect: " + said.substr(0, said.find('\n')),
                 "Check the dsn with psql; a password belongs into ~/.pgpass.",
                 {.key = "dsn"}};
  }
  PQsetNoticeProcessor(raw, [](void*, const char*) {}, nullptr);
  TRY(runner->command("SET client_encoding TO 'UTF8'"));
  TRY(runner->command("SET jit TO off"));  // Its compiler is slow on long expressions.
  TRY(runner->command("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
  return std::unique_ptr<Runner>(std::move(runner));
}

}  // namespace parley::data::sql
