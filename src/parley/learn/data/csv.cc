#include "parley/learn/data/csv.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/learn/data/csv_records.h"

namespace parley::learn {
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

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// Finds the columns in the header, then hands each record to the intake.
class Reader {
 public:
  Reader(const Schema& schema, const CsvOptions& options)
      : options_(options), intake_(schema, options.select, options.decimal, options.labels) {}

  Result<void> start() {
    if (options_.header.empty()) return {};
    columns_ = options_.header.size();
    return intake_.take_header(options_.header, [](size_t) { return Where{}; });
  }
  Result<void> take(const CsvRecord& record) {
    return columns_ == 0 ? take_header(record) : take_row(record);
  }
  bool has_header() const { return columns_ > 0; }
  Result<CountedRows> finish() && { return std::move(intake_).finish(); }

 private:
  Result<void> take_header(const CsvRecord& header);
  Result<void> take_row(const CsvRecord& record);

  const CsvOptions& options_;
  Intake intake_;
  size_t columns_ = 0;  // of the file
};

Result<std::vector<std::string>> names_in(const CsvRecord& header) {
  if (header.size() > kFileColumnsMax)
    return Error{Code::kInvalid, "the header has more than 20000 columns",
                 "Keep only the columns that the charter names.", header.where(kFileColumnsMax)};
  std::vector<std::string> names;
  for (size_t i = 0; i < header.size(); ++i) {
    if (!is_utf8(header[i]))
      return Error{Code::kInvalid, "the header is not UTF-8", "Save the file as UTF-8.",
                   header.where(i)};
    names.emplace_back(trimmed(header[i]));
  }
  return names;
}

Result<void> Reader::take_header(const CsvRecord& header) {
  const std::vector<std::string> names = TRY(names_in(header));
  TRY(intake_.take_header(names, [&](size_t i) { return header.where(i); }));
  columns_ = names.size();
  return {};
}

Result<void> Reader::take_row(const CsvRecord& record) {
  if (record.size() != columns_)
    return Error{Code::kInvalid,
                 "fields in this record: " + std::to_string(record.size()) +
                     ", in the header: " + std::to_string(columns_),
                 "Quote a text that contains the separator, a quote or a line break.",
                 record.where(std::min(record.size() - 1, columns_))};
  intake_.add([&](size_t i) { return Cell::of(record[i]); });
  return {};
}

Result<void> read_into(Reader& reader, const std::filesystem::path& path,
                       const CsvOptions& options) {
  CsvRecords records(options.separator,
                     [&](const CsvRecord& record) { return reader.take(record); });
  bool first = true;
  Result<void> fed;
  const auto read = read_unpacked(path, options.unpacked_bytes_max, [&](ByteView piece) {
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
  if (!reader.has_header())
    return Error{
        Code::kInvalid, "the file is empty", "Its first line must name the columns.", {.line = 1}};
  return {};
}

Result<void> check_options(const CsvOptions& options) {
  const auto is_odd = [](char c) {
    return c == '"' || c == '\n' || c == '\r' || (c >= '0' && c <= '9') || c == '-' || c == '+';
  };
  if (is_odd(options.separator) || is_odd(options.decimal))
    return Error{
        Code::kInvalid, "the separator or decimal sign cannot be used in a CSV file",
        "Usual are the separators comma, semicolon and tab, the decimals point and comma."};
  return {};
}

}  // namespace

Result<Rows> read_csv(const std::filesystem::path& path, const Schema& schema,
                      const CsvOptions& options) {
  return TRY(read_csv_counted(path, schema, options)).rows;
}

Result<CountedRows> read_csv_counted(const std::filesystem::path& path, const Schema& schema,
                                     const CsvOptions& options) {
  TRY(check_options(options));
  Reader reader(schema, options);
  const auto in_file = [&](Error error) {
    error.where.file = path.string();
    return error;
  };
  if (auto started = reader.start(); !started) return in_file(started.error());
  if (auto read = read_into(reader, path, options); !read) return in_file(read.error());
  auto rows = std::move(reader).finish();
  if (!rows) return in_file(rows.error());
  return rows;
}

}  // namespace parley::learn
