#include "parley/data/readers/csv_signs.h"

#include <algorithm>
#include <vector>

#include "parley/base/math/number.h"
#include "parley/data/readers/csv_scan.h"

namespace parley::data {
namespace {

constexpr size_t kLines = 50;  // looked at

/// The first lines if this were the separator; none if they have different numbers of fields.
struct FirstLines {
  size_t fields = 0;
  std::vector<std::string> cells{};
};
FirstLines first_lines(const std::filesystem::path& file, char separator) {
  FirstLines found;
  size_t lines = 0;
  bool enough = false;
  const auto scanned = scan_csv(
      file, {.separator = separator,
             .names = [&](const CsvRecord&, const auto& names) -> Result<void> {
               found.fields = names.size();
               return {};
             },
             .record = [&](const CsvRecord& record) -> Result<void> {
               for (size_t i = 0; i < record.size(); ++i)
                 found.cells.emplace_back(trimmed(record[i]));
               enough = ++lines == kLines;
               return enough ? Result<void>(Error{Code::kFailed, "enough"}) : Result<void>();
             }});
  return scanned || enough ? found : FirstLines{};
}

char found_separator(const std::filesystem::path& file, char decimal) {
  char best = ',';
  size_t most = 1;
  for (const char separator : {',', ';', '\t', '|'})
    if (const size_t fields = separator == decimal ? 0 : first_lines(file, separator).fields;
        fields > most)
      best = separator, most = fields;
  return best;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Digits, one such sign, digits; how many after it, or 0.
size_t decimals(std::string_view cell, char sign) {
  if (cell.starts_with('-')) cell.remove_prefix(1);
  const size_t at = cell.find(sign);
  if (at == 0 || at == std::string_view::npos || at + 1 == cell.size()) return 0;
  for (size_t i = 0; i < cell.size(); ++i)
    if (i != at && !is_digit(cell[i])) return 0;
  return cell.size() - at - 1;
}

/// Three digits after a comma may be thousands; a point anywhere says that they are.
char found_decimal(const std::filesystem::path& file, char separator) {
  if (separator == ',') return '.';
  bool comma = false;
  for (const std::string& cell : first_lines(file, separator).cells) {
    if (decimals(cell, '.') > 0) return '.';
    const size_t digits = decimals(cell, ',');
    comma = comma || (digits > 0 && digits != 3);
  }
  return comma ? ',' : '.';
}

/// "+1 3:1 11:0.5": a label, then indices and values.
bool is_libsvm(std::string_view line) {
  const size_t space = line.find(' '), colon = line.find(':');
  if (space == std::string_view::npos || colon == std::string_view::npos || colon < space)
    return false;
  std::string_view label = line.substr(0, space);
  if (label.starts_with('+')) label.remove_prefix(1);
  const std::string_view index = line.substr(space + 1, colon - space - 1);
  return parse_number(label) && !index.empty() && std::all_of(index.begin(), index.end(), is_digit);
}

}  // namespace

CsvSigns signs_of(const std::filesystem::path& file, CsvSigns asked) {
  if (asked.separator == 0) asked.separator = found_separator(file, asked.decimal);
  if (asked.decimal == 0) asked.decimal = found_decimal(file, asked.separator);
  return asked;
}

CsvSigns signs_that_fit(const std::filesystem::path& file, CsvSigns asked) {
  const bool fits = asked.separator == 0 || first_lines(file, asked.separator).fields > 1;
  return signs_of(file, fits ? asked : kFindSigns);
}

Result<void> check_header(const std::filesystem::path& file, std::span<const std::string> names) {
  const Where where{.file = file.string(), .line = 1};
  if (!names.empty() && is_libsvm(names.front()))
    return Error{Code::kInvalid, "this is a LIBSVM file, which names no columns",
                 "Columns must have names here: write it as CSV with a header line. A charter that "
                 "describes the columns can read it as it is, by a name that ends in .libsvm.",
                 where};
  const auto numbers = std::count_if(names.begin(), names.end(), [](const std::string& name) {
    return parse_number(name).has_value();
  });
  if (numbers == 0 || 4 * static_cast<size_t>(numbers) < names.size()) return {};
  return Error{
      Code::kInvalid,
      "the first line looks like a record and not like a header: " + std::to_string(numbers) +
          " of " + std::to_string(names.size()) + " names are numbers",
      "Put a line with the names of the columns on top. (In a policy, header = [\"age\", "
      "...] names those of a file without one.)",
      where};
}

}  // namespace parley::data
