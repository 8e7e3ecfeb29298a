#include "parley/learn/data/csv.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/files.h"
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

Error error_at(const CsvRecord& record, size_t field, std::string key, std::string what,
               std::string hint) {
  Where where = record.where(field);
  where.key = std::move(key);
  return {Code::kInvalid, std::move(what), std::move(hint), std::move(where)};
}

/// Finds the columns in the header, then hands each record to the encoder.
class Reader {
 public:
  Reader(const Schema& schema, const CsvOptions& options)
      : encoder_(schema, options.decimal, options.labels), result_{Rows(encoder_.features()), {}} {}

  Result<void> take(const CsvRecord& record) {
    return columns_ == 0 ? take_header(record) : take_row(record);
  }
  bool has_header() const { return columns_ > 0; }
  CountedRows result() && { return std::move(result_); }

 private:
  Result<void> take_header(const CsvRecord& header);
  Result<void> take_row(const CsvRecord& record);

  CsvEncoder encoder_;
  CountedRows result_;
  size_t columns_ = 0;                   // of the file
  std::vector<size_t> positions_{};      // of the wanted columns
  std::vector<std::string_view> row_{};  // the wanted texts
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
  for (const std::string& name : encoder_.wanted()) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      return error_at(header, 0, name, "the file has no such column",
                      names.size() == 1 ? "The header has one column only: check the separator."
                                        : "Check the names in the header line.");
    const auto again = std::find(found + 1, names.end(), name);
    if (again != names.end())
      return error_at(header, again - names.begin(), name, "the file has this column twice",
                      "Rename or remove one of them.");
    positions_.push_back(found - names.begin());
  }
  columns_ = names.size();
  row_.resize(positions_.size());
  return {};
}

Result<void> Reader::take_row(const CsvRecord& record) {
  if (record.size() != columns_)
    return error_at(record, std::min(record.size() - 1, columns_), "",
                    "fields in this record: " + std::to_string(record.size()) +
                        ", in the header: " + std::to_string(columns_),
                    "Quote a text that contains the separator, a quote or a line break.");
  for (size_t i = 0; i < row_.size(); ++i) row_[i] = record[positions_[i]];
  encoder_.add(row_, result_.rows, result_.counts);
  return {};
}

Result<void> read_into(Reader& reader, const std::filesystem::path& path, char separator) {
  CsvRecords records(separator, [&](const CsvRecord& record) { return reader.take(record); });
  bool first = true;
  Result<void> fed;
  TRY(read_pieces(path, [&](ByteView piece) {
    std::string_view text(reinterpret_cast<const char*>(piece.data()), piece.size());
    if (std::exchange(first, false) && text.starts_with(kByteOrderMark))
      text.remove_prefix(kByteOrderMark.size());
    fed = records.feed(text);
    return bool(fed);
  }));
  TRY(fed);
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
  if (auto read = read_into(reader, path, options.separator); !read) {
    Error error = read.error();
    error.where.file = path.string();
    return error;
  }
  return std::move(reader).result();
}

}  // namespace parley::learn
