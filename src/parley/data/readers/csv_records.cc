#include "parley/data/readers/csv_records.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "parley/base/math/avx2.h"

namespace parley::data {
namespace {

constexpr char kQuote = '"';

int as_place(size_t number) {
  return static_cast<int>(std::min<size_t>(number, std::numeric_limits<int>::max()));
}

/// Where fields end, unless they are quoted: at a separator or a new line. 64 characters are looked
/// at together, since most fields are much shorter.
class FieldEnds {
 public:
  FieldEnds(const char* begin, const char* end, char separator)
      : at_(begin), end_(end), separator_(_mm256_set1_epi8(separator)) {
    look();
  }

  /// The next one, or the end of the text.
  const char* next() {
    while (found_ == 0) {
      if (end_ - at_ <= kBlock) return end_;
      at_ += kBlock;
      look();
    }
    const char* const end = at_ + std::countr_zero(found_);
    found_ &= found_ - 1;
    return end;
  }
  /// The next one is looked for from here on.
  void go_to(const char* place) {
    at_ = place;
    look();
  }

 private:
  static constexpr ptrdiff_t kBlock = 64;

  void look() {
    const char* from = at_;
    char padded[kBlock] = {};
    if (end_ - at_ < kBlock) from = std::copy(at_, end_, padded) - (end_ - at_);
    found_ = half(from) | uint64_t{half(from + kBlock / 2)} << 32;
    if (end_ - at_ < kBlock) found_ &= ~(~uint64_t{0} << (end_ - at_));
  }
  uint32_t half(const char* from) const {
    const __m256i text = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    const __m256i new_lines = _mm256_cmpeq_epi8(text, _mm256_set1_epi8('\n'));
    return static_cast<uint32_t>(
        _mm256_movemask_epi8(_mm256_or_si256(_mm256_cmpeq_epi8(text, separator_), new_lines)));
  }

  const char* at_;
  const char* end_;
  __m256i separator_;
  uint64_t found_ = 0;  // among the 64 characters from at_ on, those not given yet
};

}  // namespace

Where CsvRecord::where(size_t i) const {
  const std::string_view before = raw.substr(0, fields[i].begin);
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {.line = as_place(line + std::count(before.begin(), before.end(), '\n')),
          .column = as_place(1 + before.size() - line_start)};
}

Result<void> CsvRecords::feed(std::string_view block) {
  if (rest_.empty()) {
    rest_ = TRY(take_whole_records(block));
    return {};
  }
  rest_ += block;
  const size_t left = TRY(take_whole_records(rest_)).size();
  rest_.erase(0, rest_.size() - left);
  return {};
}

Result<void> CsvRecords::end() {
  const Found found = scan(rest_);
  TRY(check_length(found, rest_.size()));
  if (found == Found::kOpenQuote)
    return Error{Code::kInvalid, "the quote that opens here is never closed",
                 "Close it, or double a quote that is part of a quoted text.",
                 record_.where(record_.size() - 1)};
  return rest_.empty() ? Result<void>() : give(rest_);
}

/// Gives every record that ends in `text`; returns what follows the last of them.
Result<std::string_view> CsvRecords::take_whole_records(std::string_view text) {
  while (!text.empty()) {
    const Found found = scan(text);
    TRY(check_length(found, text.size()));
    if (found != Found::kRecord) break;
    const size_t bytes = record_.raw.size() + 1;
    TRY(give(text.substr(0, bytes)));
    text.remove_prefix(bytes);
  }
  return text;
}

/// Splits the record at the start of `text` into fields. Looks no further than a record may be
/// long, so that what is found does not depend on how the file was cut into blocks.
CsvRecords::Found CsvRecords::scan(std::string_view text) {
  text = text.substr(0, kRecordBytesMax);
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  record_.fields.clear();
  record_.line = line_;
  record_.raw = text;
  quoted_ = false;
  unquoted_bytes_ = 0;
  FieldEnds ends(begin, end, separator_);
  for (const char* p = begin;; ++p) {
    const char* const field = p;
    const auto place = static_cast<size_t>(field - begin);
    if (p < end && *p == kQuote) {
      quoted_ = true;
      record_.fields.emplace_back(std::string_view(), place);
      p = scan_quoted(field, end);
      if (p == nullptr) return Found::kOpenQuote;
      ends.go_to(std::min(p + 1, end));
    } else {
      p = ends.next();
      record_.fields.emplace_back(std::string_view(field, p - field), place);
    }
    if (p == end) return Found::kOpenRecord;
    if (*p != '\n') continue;
    record_.raw = {begin, static_cast<size_t>(p - begin)};
    return Found::kRecord;
  }
}

/// Reads the field whose opening quote is at `quote`; returns its end, or null if it has none.
const char* CsvRecords::scan_quoted(const char* quote, const char* end) {
  const auto find_quote = [&](const char* p) {
    return p < end ? static_cast<const char*>(std::memchr(p, kQuote, end - p)) : nullptr;
  };
  const char* part = quote + 1;
  const char* close = find_quote(part);
  char* text = nullptr;  // where the field's parts are put together, if it has several
  size_t size = 0;
  const auto append = [&](const char* from, const char* to) {
    if (unquoted_ == nullptr) unquoted_.reset(new char[kRecordBytesMax]);
    if (text == nullptr) text = unquoted_.get() + unquoted_bytes_;
    std::memcpy(unquoted_.get() + unquoted_bytes_, from, to - from);
    unquoted_bytes_ += to - from;
    size += to - from;
  };
  while (close != nullptr && close + 1 < end && close[1] == kQuote) {
    append(part, close + 1);  // With one of the two quotes.
    part = close + 2;
    close = find_quote(part);
  }
  if (close == nullptr) return nullptr;
  const char* const last = FieldEnds(close + 1, end, separator_).next();
  if (text == nullptr && last == close + 1) {
    record_.fields.back().text = {part, static_cast<size_t>(close - part)};
    return last;
  }
  append(part, close);
  append(close + 1, last);
  record_.fields.back().text = {text, size};
  return last;
}

/// Hands over the record at hand, which is `text` with its line end.
Result<void> CsvRecords::give(std::string_view text) {
  if (is_blank()) {
    ++blank_lines_;
  } else {
    if (blank_lines_ > 0) TRY(give_blank_lines());
    TRY(take_(record_));
  }
  line_ += quoted_ ? std::count(text.begin(), text.end(), '\n') : 1;
  return {};
}

Result<void> CsvRecords::give_blank_lines() {
  CsvRecord blank;
  for (size_t i = 0; i < blank_lines_; ++i) {
    blank.line = line_ - blank_lines_ + i;
    blank.fields = {{{}, 0}};
    TRY(take_(blank));
  }
  blank_lines_ = 0;
  return {};
}

bool CsvRecords::is_blank() const {
  return !quoted_ && record_.size() == 1 && trimmed(record_[0]).empty();
}

Result<void> CsvRecords::check_length(Found found, size_t bytes) const {
  if (found == Found::kRecord || bytes <= kRecordBytesMax) return {};
  const bool quoted = found == Found::kOpenQuote;
  return Error{Code::kInvalid,
               quoted ? "the quote that opens here is not closed within 1 MiB"
                      : "the record that starts here is longer than 1 MiB",
               quoted ? "Close it, or double a quote that is part of a quoted text."
                      : "Is this a text file with one record per line?",
               record_.where(quoted ? record_.size() - 1 : 0)};
}

}  // namespace parley::data
