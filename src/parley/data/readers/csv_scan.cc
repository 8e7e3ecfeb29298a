#include "parley/data/readers/csv_scan.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace parley::data {
namespace {

constexpr size_t kFileColumnsMax = 20000;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Length of the UTF-8 character at the start of `text`, 0 if there is none (RFC 3629: no overlong
/// forms, no surrogates, nothing above U+10FFFF).
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : 0; };
  const int first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first < 0xC2   ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF5 ? 4
                                       : 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool wrong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) ||
                     (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F);
  return wrong ? 0 : length;
}

Result<std::vector<std::string>> names_in(const CsvRecord& header) {
  if (header.size() > kFileColumnsMax)
    return Error{Code::kInvalid, "the header has more than 20000 columns",
                 "Keep only the columns that are used.", header.where(kFileColumnsMax)};
  std::vector<std::string> names;
  for (size_t i = 0; i < header.size(); ++i) {
    if (!is_utf8(header[i]))
      return Error{Code::kInvalid, "the header is not UTF-8", "Save the file as UTF-8.",
                   header.where(i)};
    names.emplace_back(trimmed(header[i]));
  }
  return names;
}

Result<void> check_fields(const CsvRecord& record, size_t columns) {
  if (record.size() == columns) return {};
  return Error{Code::kInvalid,
               "fields in this record: " + std::to_string(record.size()) +
                   ", in the header: " + std::to_string(columns),
               "Quote a text that contains the separator, a quote or a line break.",
               record.where(std::min(record.size() - 1, columns))};
}

Result<void> scan_file(const std::filesystem::path& path, const CsvScan& scan) {
  size_t columns = scan.columns;
  CsvRecords records(scan.separator, [&](const CsvRecord& record) -> Result<void> {
    if (columns > 0) {
      TRY(check_fields(record, columns));
      return scan.record(record);
    }
    const std::vector<std::string> names = TRY(names_in(record));
    columns = names.size();
    return scan.names(record, names);
  });
  bool first = true;
  Result<void> fed;
  const auto read = read_unpacked(path, scan.unpacked_bytes_max, [&](ByteView piece) {
    std::string_view text(reinterpret_cast<const char*>(piece.data()), piece.size());
    if (std::exchange(first, false) && text.starts_with(kByteOrderMark))
      text.remove_prefix(kByteOrderMark.size());
    fed = records.feed(text);
    return bool(fed);
  });
  TRY(fed);
  if (!read) {
    Error error = read.error();
    if (!first) error.where.line = static_cast<int>(records.line());
    return error;
  }
  TRY(records.end());
  if (columns == 0)
    return Error{
        Code::kInvalid, "the file is empty", "Its first line must name the columns.", {.line = 1}};
  return {};
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

Result<void> check_signs(const CsvSigns& signs) {
  const auto is_odd = [](char c) {
    return c == '"' || c == '\n' || c == '\r' || (c >= '0' && c <= '9') || c == '-' || c == '+';
  };
  if (is_odd(signs.separator) || is_odd(signs.decimal) || signs.separator == signs.decimal)
    return Error{
        Code::kInvalid, "the separator or decimal sign cannot be used in a CSV file",
        "Usual are the separators comma, semicolon and tab, the decimals point and comma."};
  return {};
}

Result<void> scan_csv(const std::filesystem::path& path, const CsvScan& scan) {
  auto scanned = scan_file(path, scan);
  if (scanned) return {};
  Error error = scanned.error();
  error.where.file = path.string();
  return error;
}

}  // namespace parley::data
