#include "parley/data/sources/cells.h"

#include <utility>

#include "parley/base/math/number.h"

namespace parley::data {
namespace {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_cell(const Cell& cell) {
  switch (cell.kind) {
    case Cell::Kind::kReal:
      return shortest(cell.real);
    case Cell::Kind::kInteger:
      return std::to_string(cell.integer);
    case Cell::Kind::kText:
      break;
  }
  return csv_field(cell.text);
}

}  // namespace

Result<CountedRows> read_cells(const Cells& cells, const Schema& schema, const Selection& select,
                               bool labels) {
  Intake intake(schema, select, '.', labels);
  TRY(intake.take_header(cells.names(), [](size_t) { return Where{}; }));
  const auto cursor = cells.cursor();
  for (uint64_t row = 0; row < cells.rows(); ++row) {
    cursor->seek(row);
    intake.add([&](size_t column) { return cursor->at(column); });
    if (intake.failure()) return *intake.failure();
  }
  return std::move(intake).finish();
}

std::string to_csv(const Cells& cells) {
  std::string text;
  const size_t columns = cells.names().size();
  for (size_t j = 0; j < columns; ++j) text += (j ? "," : "") + csv_field(cells.names()[j]);
  text += "\n";
  const auto cursor = cells.cursor();
  for (uint64_t row = 0; row < cells.rows(); ++row) {
    cursor->seek(row);
    for (size_t j = 0; j < columns; ++j) {
      if (j) text += ',';
      text += csv_cell(cursor->at(j));
    }
    text += "\n";
  }
  return text;
}

}  // namespace parley::data
