#include "parley/data/adbc/select.h"

namespace parley::data {
namespace {

std::string literal(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted.append(c == '\'' ? 2 : 1, c);
  return quoted + "'";
}

std::string from(const std::string& query) {
  const size_t end = query.find_last_not_of(" \t\r\n;");
  return "(" + query.substr(0, end == std::string::npos ? 0 : end + 1) + "\n) as parley_rows";
}

/// As Intake::passes compares: without the blanks around, and the empty text for no value.
std::string condition(sql::Dialect dialect, const RowFilter& where) {
  const auto& differs = sql::differences(dialect);
  std::string list;
  for (const std::string& value : where.values) list += (list.empty() ? "" : ", ") + literal(value);
  return "coalesce(" + std::string(differs.trim) + "(cast(" + sql::quoted(dialect, where.column) +
         " as text), " + literal(" \t\n\v\f\r") + ")" + std::string(differs.collate) + ", '')" +
         (where.exclude ? " not in (" : " in (") + list + ")";
}

}  // namespace

std::string columns_query(const std::string& query) {
  return "select * from " + from(query) + " limit 0";
}

std::string narrowed_query(sql::Dialect dialect, const std::string& query,
                           const std::vector<std::string>& columns,
                           const std::optional<RowFilter>& where, DriverKind where_kind,
                           const std::vector<std::string>& order) {
  std::string list, sorted;
  for (const std::string& column : columns)
    list += (list.empty() ? "" : ", ") + sql::quoted(dialect, column);
  for (const std::string& column : order)
    sorted += (sorted.empty() ? "\norder by " : ", ") + sql::quoted(dialect, column);
  std::string sql = "select " + list + "\nfrom " + from(query);
  const bool alike = dialect == sql::Dialect::kDuckdb || dialect == sql::Dialect::kPostgresql;
  if (where && !where->by_name && alike && where_kind != DriverKind::kOther)
    sql += "\nwhere " + condition(dialect, *where);
  return sql + sorted;
}

}  // namespace parley::data
