#include "parley/data/sources/table.h"

#include <cmath>
#include <utility>

namespace parley::data {
namespace {

size_t size_of(const Table::Column& column) {
  return std::visit([](const auto& values) { return values.size(); }, column.values);
}

/// No value is the empty text.
Cell cell_at(const Table::Column& column, size_t row) {
  if (const auto* numbers = std::get_if<std::vector<double>>(&column.values))
    return std::isnan((*numbers)[row]) ? Cell{} : Cell::of((*numbers)[row]);
  return Cell::of(std::string_view(std::get<std::vector<std::string>>(column.values)[row]));
}

Result<size_t> rows_of(const Table& table) {
  const size_t rows = table.columns.empty() ? 0 : size_of(table.columns[0]);
  for (const Table::Column& column : table.columns)
    if (size_of(column) != rows)
      return Error{Code::kInvalid,
                   "has " + std::to_string(size_of(column)) + " values, the first column has " +
                       std::to_string(rows),
                   "All columns of a table are of the same length.",
                   {.key = column.name}};
  return rows;
}

}  // namespace

Result<CountedRows> read_table(const Table& table, const Schema& schema, const Selection& select,
                               bool labels) {
  const size_t rows = TRY(rows_of(table));
  std::vector<std::string> names;
  for (const Table::Column& column : table.columns) names.push_back(column.name);
  Intake intake(schema, select, '.', labels);
  TRY(intake.take_header(names, [](size_t) { return Where{}; }));
  for (size_t row = 0; row < rows; ++row) {
    intake.add([&](size_t i) { return cell_at(table.columns[i], row); });
    if (intake.failure()) return *intake.failure();
  }
  return std::move(intake).finish();
}

}  // namespace parley::data
