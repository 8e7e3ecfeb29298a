#include "parley/data/sql/dialect.h"

#include <algorithm>

namespace parley::data::sql {
namespace {

// DuckDB and Spark compute a step once anyway. SQLite does not merge steps that have a LIMIT,
// PostgreSQL none with an OFFSET.
constexpr std::array<Differences, 4> kTable = {{
    {"double", "$", true, '"', "not materialized ", "", "trim", "", "true", "false", false, false},
    {"float8", "$", true, '"', "not materialized ", " offset 0", "btrim", " collate \"C\"", "t",
     "f", false, true},
    {"real", "?", false, '"', "not materialized ", " limit -1", "trim", "", "1", "0", true, false},
    {"double", ":p", false, '`', "", "", "btrim", "", "true", "false", false, false},
}};

}  // namespace

std::optional<Dialect> dialect_named(std::string_view name) {
  const auto found = std::find(kDialects.begin(), kDialects.end(), name);
  if (found == kDialects.end()) return std::nullopt;
  return static_cast<Dialect>(found - kDialects.begin());
}

const Differences& differences(Dialect dialect) { return kTable[static_cast<size_t>(dialect)]; }

std::string quoted(Dialect dialect, std::string_view name) {
  const char quote = differences(dialect).quote;
  std::string text(1, quote);
  for (const char c : name) text.append(c == quote ? 2 : 1, c);
  return text + quote;
}

}  // namespace parley::data::sql
