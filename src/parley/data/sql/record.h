// From an owner's query to features and labels, inside the database: schema, the policy's selection
// and the bundle as steps of one statement. It computes what encode.h, intake.h and
// transforms/transform.h compute, in arithmetic that IEEE 754 defines.
//
// No content of a record can make a statement fail. NULL, NaN and infinities become a public
// constant first; then numbers are clamped to public bounds; then numbers below 2^-500 become 0
// before they are multiplied or divided. If the public numbers of a schema or bundle could
// overflow, or cannot be expressed in SQL, it is refused by name when the statement is made.
//
// Units. A record counts if fewer than `records` of its unit come before it in the policy's order.
// Ties are broken by all other columns that are read, so records that still tie are equal. Which
// records of a unit count thus depends on that unit's records alone, as the proof at data::UnitCap
// requires, and not on the order in which a database finds them.
#pragma once

#include <string>
#include <vector>

#include "parley/base/result.h"
#include "parley/data/intake.h"
#include "parley/data/schema.h"
#include "parley/data/sql/statement.h"

namespace parley::data::sql {

/// What a column of the query holds. kAny is SQLite's, where each value has a type of its own.
enum class Kind { kReal, kInteger, kDecimal, kText, kBoolean, kOther, kAny };
struct TableColumn {
  std::string name;
  Kind kind;
};

/// What the owner has: a query, what it gives, and what the policy makes of it.
struct SqlTable {
  std::string query;
  std::vector<TableColumn> columns{};
  Selection select{};
  std::vector<std::string> order{};  // columns by which a unit's first records are found
};

/// The columns that a charter's schema looks at, of the kinds that it expects: for reviews, where
/// no database is at hand.
SqlTable expected_table(const Schema& schema, std::string query);

/// Features of one statement: databases limit how many columns a step has.
inline constexpr size_t kSqlFeaturesMax = 1000;

/// Steps whose last one has the columns z0, z1, ... and y: the record as data::Rows would hold it.
/// Returns how many features there are.
Result<size_t> write_record(Writer& w, const SqlTable& table, const Schema& schema);

/// How many rows the query gives, as the policy selects them.
Result<Statement> count_statement(Dialect dialect, const SqlTable& table);

/// The last of them: columns e0, e1, ..., y and ok become z0, z1, ... and y. `reach` says how large
/// each encoded column may be.
Result<size_t> write_features(Writer& w, const Schema& schema, std::vector<double> reach);

}  // namespace parley::data::sql
