// Splits CSV text into records and fields (RFC 4180), block by block.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/result.h"

namespace parley::data {

/// Without the blanks around it.
inline std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

/// One record. Valid until the callback that received it returns.
struct CsvRecord {
  struct Field {
    Field(std::string_view text, size_t begin) : text(text), begin(begin) {}
    std::string_view text;  // unquoted
    size_t begin;           // in `raw`
  };
  std::string_view raw{};  // as it stands in the file
  size_t line = 1;         // where it starts there
  std::vector<Field> fields{};

  size_t size() const { return fields.size(); }
  std::string_view operator[](size_t i) const { return fields[i].text; }
  /// Where field i starts, as far as known here: line and column, counted in bytes.
  Where where(size_t i) const;
};

/// Lenient where RFC 4180 is silent: a quote inside a field that does not start with one, and text
/// after a closing quote, are ordinary text. Lines end with \n; the \r of \r\n stays in the last
/// field, a blank like any other. Blank lines at the end are no records.
class CsvRecords {
 public:
  using Take = std::function<Result<void>(const CsvRecord&)>;
  static constexpr size_t kRecordBytesMax = 1 << 20;

  CsvRecords(char separator, Take take) : separator_(separator), take_(std::move(take)) {}

  /// The next block of the file. After an error no more blocks may follow.
  Result<void> feed(std::string_view block);
  /// After the last block: the last record need not end with a new line.
  Result<void> end();
  /// The line of the file that is reached.
  size_t line() const { return line_; }

 private:
  enum class Found { kRecord, kOpenRecord, kOpenQuote };

  Result<std::string_view> take_whole_records(std::string_view text);
  Found scan(std::string_view text);
  const char* scan_quoted(const char* quote, const char* end);
  Result<void> give(std::string_view text);
  Result<void> give_blank_lines();
  bool is_blank() const;
  Result<void> check_length(Found found, size_t bytes) const;

  char separator_;
  Take take_;
  CsvRecord record_{};
  bool quoted_ = false;                 // the record at hand has a quoted field
  std::string rest_{};                  // the start of a record whose end is still to come
  std::unique_ptr<char[]> unquoted_{};  // of the record at hand, texts not in one piece in the file
  size_t unquoted_bytes_ = 0;
  size_t line_ = 1;         // of the next record
  size_t blank_lines_ = 0;  // held back until it is known that a record follows
};

}  // namespace parley::data
