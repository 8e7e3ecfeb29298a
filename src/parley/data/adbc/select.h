// The query that a driver runs. In a dialect that we know, the owner's query is narrowed to the
// columns and rows that are needed; otherwise it is run as it is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parley/data/intake.h"
#include "parley/data/sql/dialect.h"

namespace parley::data {

/// What a column of the owner's query holds, as far as comparing it with texts goes.
enum class DriverKind { kText, kInteger, kOther };

/// Of the owner's query no row: what its columns are.
std::string columns_query(const std::string& query);

/// These columns of the owner's query. A filter that every database judges as we do is in it: of
/// texts and integers, in DuckDB and PostgreSQL; the owner's own process filters anyway.
std::string narrowed_query(sql::Dialect dialect, const std::string& query,
                           const std::vector<std::string>& columns,
                           const std::optional<RowFilter>& where, DriverKind where_kind,
                           const std::vector<std::string>& order);

}  // namespace parley::data
