#include <bit>
#include <charconv>
#include <cstring>

#include "parley/data/sources/libpq.h"
#include "parley/data/sources/postgres_copy.h"
#include "parley/data/sql/run.h"

namespace parley::data::sql {
namespace {

/// Only complaints about the text itself (class 42) are quoted: others may hold a value.
Error pg_failure(const PGresult* result) {
  const char* state = libpq().resultErrorField(result, PG_DIAG_SQLSTATE);
  const char* said = libpq().resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
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
  explicit PostgresqlRunner(PqConnection connection) : connection_(std::move(connection)) {}

  Result<void> command(const char* text) {
    const PqAnswer answer(libpq().exec(connection_.get(), text));
    if (libpq().resultStatus(answer.get()) != PGRES_COMMAND_OK) return pg_failure(answer.get());
    return {};
  }

  Result<std::vector<TableColumn>> describe(const std::string& query) override {
    const size_t end = query.find_last_not_of(" \t\r\n;");
    const std::string text = query.substr(0, end == query.npos ? 0 : end + 1);
    const PqAnswer prepared(libpq().prepare(connection_.get(), "", text.c_str(), 0, nullptr));
    if (libpq().resultStatus(prepared.get()) != PGRES_COMMAND_OK) return pg_failure(prepared.get());
    const PqAnswer described(libpq().describePrepared(connection_.get(), ""));
    if (libpq().resultStatus(described.get()) != PGRES_COMMAND_OK)
      return pg_failure(described.get());
    std::vector<TableColumn> columns;
    for (int i = 0; i < libpq().nfields(described.get()); ++i)
      columns.push_back(
          {libpq().fname(described.get(), i), kind_of(libpq().ftype(described.get(), i))});
    return columns;
  }

  Result<std::vector<int64_t>> run(const std::string& text,
                                   const std::vector<Value>& values) override {
    const Bound bound(values);
    const PqAnswer answer(libpq().execParams(
        connection_.get(), text.c_str(), static_cast<int>(values.size()), bound.types.data(),
        bound.at.data(), bound.lengths.data(), bound.binary.data(), 0));
    if (libpq().resultStatus(answer.get()) != PGRES_TUPLES_OK) return pg_failure(answer.get());
    std::vector<int64_t> numbers;
    for (int i = 0; i < libpq().nfields(answer.get()); ++i) {
      const char* begin = libpq().getvalue(answer.get(), 0, i);
      int64_t number = 0;  // A sum of no rows is NULL, the empty text.
      std::from_chars(begin, begin + std::strlen(begin), number);
      numbers.push_back(number);
    }
    return numbers;
  }

 private:
  PqConnection connection_;
};

}  // namespace

Result<std::unique_ptr<Runner>> open_postgresql(const std::string& dsn) {
  auto runner = std::make_unique<PostgresqlRunner>(TRY(connect_to_postgresql(dsn)));
  TRY(runner->command("SET client_encoding TO 'UTF8'"));
  TRY(runner->command("SET jit TO off"));  // Its compiler is slow on long expressions.
  TRY(runner->command("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
  return std::unique_ptr<Runner>(std::move(runner));
}

}  // namespace parley::data::sql
