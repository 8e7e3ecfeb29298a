#include "parley/learn/data/csv_records.h"

#include <algorithm>
#include <limits>

namespace parley::learn {
namespace {

constexpr char kQuote = '"';

int as_place(size_t number) {
  return static_cast<int>(std::min<size_t>(number, std::numeric_limits<int>::max()));
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

Where CsvRecord::where(size_t i) const {
  return {.line = as_place(fields[i].line), .column = as_place(fields[i].column)};
}

Result<void> CsvRecords::feed(std::string_view block) {
  for (const char c : block) {
    if (++record_bytes_ > kRecordBytesMax) return too_long();
    if (ends_record(c)) TRY(end_record());
  }
  return {};
}

Result<void> CsvRecords::end() {
  if (state_ == State::kQuoted)
    return Error{Code::kInvalid, "the quote that opens here is never closed",
                 "Close it, or double a quote that is part of a quoted text.",
                 record_.where(record_.size() - 1)};
  return record_bytes_ > 0 ? end_record() : Result<void>();
}

/// Takes one byte; true for the new line that ends the record.
bool CsvRecords::ends_record(char c) {
  const bool inside = state_ == State::kQuoted;
  ++column_;
  if (c == '\n') ++line_, column_ = 1;
  if (c == kQuote && state_ == State::kFieldStart) {
    quoted_ = true;
    state_ = State::kQuoted;
  } else if (c == kQuote && inside) {
    state_ = State::kQuoteInQuoted;
  } else if (c == kQuote && state_ == State::kQuoteInQuoted) {
    record_.text += c;
    state_ = State::kQuoted;
  } else if (c == separator_ && !inside) {
    start_field();
  } else if (c == '\n' && !inside) {
    return true;
  } else {
    record_.text += c;
    if (!inside) state_ = State::kPlain;
  }
  return false;
}

void CsvRecords::start_record() {
  record_.text.clear();
  record_.fields.clear();
  record_bytes_ = 0;
  quoted_ = false;
  start_field();
}

void CsvRecords::start_field() {
  record_.fields.push_back({record_.text.size(), line_, column_});
  state_ = State::kFieldStart;
}

Result<void> CsvRecords::end_record() {
  if (is_blank()) {
    ++blank_lines_;
  } else {
    TRY(give_blank_lines());
    TRY(take_(record_));
  }
  start_record();
  return {};
}

Result<void> CsvRecords::give_blank_lines() {
  CsvRecord blank;
  const size_t first = record_.fields[0].line - blank_lines_;
  for (size_t i = 0; i < blank_lines_; ++i) {
    blank.fields = {{0, first + i, 1}};
    TRY(take_(blank));
  }
  blank_lines_ = 0;
  return {};
}

bool CsvRecords::is_blank() const {
  return !quoted_ && record_.size() == 1 && trimmed(record_.text).empty();
}

Error CsvRecords::too_long() const {
  const bool quoted = state_ == State::kQuoted;
  return {Code::kInvalid,
          quoted ? "the quote that opens here is not closed within 1 MiB"
                 : "the record that starts here is longer than 1 MiB",
          quoted ? "Close it, or double a quote that is part of a quoted text."
                 : "Is this a text file with one record per line?",
          record_.where(quoted ? record_.size() - 1 : 0)};
}

}  // namespace parley::learn
