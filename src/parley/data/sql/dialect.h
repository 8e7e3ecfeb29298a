// The differences between databases that our statements depend on: one row of a small table for
// each database.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace parley::data::sql {

enum class Dialect { kDuckdb, kPostgresql, kSqlite, kSpark };
inline constexpr std::array<std::string_view, 4> kDialects = {"duckdb", "postgresql", "sqlite",
                                                              "spark"};
std::optional<Dialect> dialect_named(std::string_view name);
inline std::string_view name_of(Dialect dialect) { return kDialects[static_cast<size_t>(dialect)]; }

struct Differences {
  std::string_view real;        // the type of IEEE doubles
  std::string_view parameter;   // before the number of a parameter
  bool typed_parameters;        // $1::float8: the database would guess another type
  char quote;                   // around names
  std::string_view not_stored;  // after AS: a step is computed row by row, not stored
  std::string_view fence;       // at a step's end: it is computed once, not copied into the next
  std::string_view trim;        // trims the characters of its second argument
  std::string_view collate;     // after a text: compared byte by byte
  std::string_view yes, no;     // texts of a boolean
  bool typed_by_value;          // a column may hold numbers and texts
  bool decimal_may_fail;        // casting a decimal number to a double can be an error
};
const Differences& differences(Dialect dialect);

/// The name of a column or parameter as it stands in a statement.
std::string quoted(Dialect dialect, std::string_view name);

}  // namespace parley::data::sql
