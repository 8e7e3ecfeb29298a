#include <algorithm>
#include <cmath>
#include <map>

#include "parley/data/encode.h"
#include "parley/data/readers/csv_scan.h"
#include "studies/reproduce/data/files.h"

namespace parley::reproduce {
namespace {

using Kind = MappedColumn::Kind;

double first_digits(std::string_view text) {
  const size_t begin = text.find_first_of("0123456789");
  if (begin == text.npos) return kUnknown;
  double value = 0;
  for (size_t i = begin; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
    value = 10 * value + (text[i] - '0');
  return value;
}

/// Reads one column. Categories are numbered as they come and put in order at the end.
class ColumnReader {
 public:
  explicit ColumnReader(Kind kind) : kind_(kind) {}

  double read(std::string_view text) {
    text = data::trimmed(text);
    if (kind_ == Kind::kDigits) return first_digits(text);
    if (kind_ == Kind::kCategory)
      return double(texts_.try_emplace(std::string(text), texts_.size()).first->second);
    const double value = number_.number(data::Cell::of(text));
    if (!std::isfinite(value)) return kUnknown;
    return kind_ == Kind::kLog ? std::log1p(std::max(value, 0.)) : value;
  }

  /// The place of each category's number in the alphabet.
  std::vector<double> places() const {
    std::vector<double> places(texts_.size());
    double place = 0;
    for (const auto& [text, number] : texts_) places[number] = place++;
    return places;
  }

 private:
  Kind kind_;
  data::CellReader number_{"", '.'};
  std::map<std::string, size_t> texts_{};
};

/// Where the mapped columns stand in the file: features, target, owner.
Result<std::vector<size_t>> find_columns(const FileMap& map,
                                         const std::vector<std::string>& names) {
  std::vector<std::string> wanted;
  for (const MappedColumn& column : map.columns) wanted.push_back(column.name);
  wanted.push_back(map.target.name);
  if (!map.owner.empty()) wanted.push_back(map.owner);
  std::vector<size_t> places;
  std::string missing;
  for (const std::string& name : wanted) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) missing += (missing.empty() ? "'" : ", '") + name + "'";
    places.push_back(static_cast<size_t>(at - names.begin()));
  }
  if (missing.empty()) return places;
  return Error{Code::kInvalid, "has no column " + missing,
               "It is read as the file " + map.file +
                   " of the papers; docs/reference/reproduce.md lists its columns."};
}

}  // namespace

Result<Columns> read_columns(const FoundFile& file) {
  const FileMap& map = *file.map;
  Columns columns{.columns = map.columns.size()};
  std::vector<ColumnReader> readers;
  for (const MappedColumn& column : map.columns) readers.emplace_back(column.kind);
  ColumnReader target(map.target.kind);
  std::vector<size_t> places;
  data::CsvScan scan;
  scan.names = [&](const data::CsvRecord&, const std::vector<std::string>& names) -> Result<void> {
    places = TRY(find_columns(map, names));
    return {};
  };
  scan.record = [&](const data::CsvRecord& record) -> Result<void> {
    const double label = target.read(record[places[columns.columns]]);
    if (!std::isfinite(label)) return {};
    columns.target.push_back(label);
    for (size_t j = 0; j < columns.columns; ++j)
      columns.values.push_back(readers[j].read(record[places[j]]));
    if (!map.owner.empty())
      columns.owners.emplace_back(data::trimmed(record[places[columns.columns + 1]]));
    return {};
  };
  Result<void> done = data::scan_csv(file.path, scan);
  if (!done) {
    Error error = done.error();
    if (error.where.file.empty()) error.where.file = file.path.string();
    return error;
  }
  for (size_t j = 0; j < columns.columns; ++j) {
    if (map.columns[j].kind != Kind::kCategory) continue;
    const std::vector<double> order = readers[j].places();
    for (size_t i = j; i < columns.values.size(); i += columns.columns)
      columns.values[i] = order[static_cast<size_t>(columns.values[i])];
  }
  return columns;
}

}  // namespace parley::reproduce
