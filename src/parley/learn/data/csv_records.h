// Splits CSV text into records of fields (RFC 4180), block by block.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/result.h"

namespace parley::learn {

/// Without the blanks around it.
std::string_view trimmed(std::string_view text);

/// One record. Valid until the callback that received it returns.
struct CsvRecord {
  struct Field {
    size_t begin;         // in `text`
    size_t line, column;  // in the file
  };
  std::string text{};  // the fields, unquoted, without the separators
  std::vector<Field> fields{};

  size_t size() const { return fields.size(); }
  std::string_view operator[](size_t i) const {
    const size_t end = i + 1 < fields.size() ? fields[i + 1].begin : text.size();
    return std::string_view(text).substr(fields[i].begin, end - fields[i].begin);
  }
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

  CsvRecords(char separator, Take take) : separator_(separator), take_(std::move(take)) {
    start_record();
  }

  /// The next block of the file. After an error no more blocks may follow.
  Result<void> feed(std::string_view block);
  /// After the last block: the last record need not end with a new line.
  Result<void> end();

 private:
  enum class State { kFieldStart, kPlain, kQuoted, kQuoteInQuoted };

  bool ends_record(char c);
  void start_record();
  void start_field();
  Result<void> end_record();
  Result<void> give_blank_lines();
  bool is_blank() const;
  Error too_long() const;

  char separator_;
  Take take_;
  CsvRecord record_{};
  State state_ = State::kFieldStart;
  bool quoted_ = false;  // the record at hand has a quoted field
  size_t record_bytes_ = 0;
  size_t line_ = 1, column_ = 1;  // of the next byte
  size_t blank_lines_ = 0;        // held back until it is known that a record follows
};

}  // namespace parley::learn
