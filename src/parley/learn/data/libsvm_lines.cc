#include "parley/learn/data/libsvm_lines.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/learn/data/quick_number.h"

namespace parley::learn {
namespace {

constexpr uint64_t kIndexMax = uint64_t{1} << 53;

int as_place(size_t number) {
  return static_cast<int>(std::min<size_t>(number, std::numeric_limits<int>::max()));
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

/// The place of the colon that ends the index, or 0 if there is no index from 1.
size_t index_in(std::string_view word, uint64_t& index) {
  size_t i = 0;
  for (index = 0; i < word.size() && word[i] >= '0' && word[i] <= '9' && index < kIndexMax; ++i)
    index = 10 * index + static_cast<uint64_t>(word[i] - '0');
  return index > 0 && i < word.size() && word[i] == ':' ? i : 0;
}

}  // namespace

Error LibsvmLines::error(size_t column, std::string what, std::string hint) const {
  return {Code::kInvalid,
          std::move(what),
          std::move(hint),
          {.line = as_place(line_), .column = as_place(column + 1)}};
}

Result<void> LibsvmLines::feed(std::string_view block) {
  if (rest_.empty()) {
    rest_ = TRY(take_whole_lines(block));
  } else if (const size_t end = block.find('\n'); end == std::string_view::npos) {
    rest_ += block;
  } else {  // The line that was cut, then the others where they stand.
    rest_ += block.substr(0, end + 1);
    TRY(take_whole_lines(rest_));
    rest_ = TRY(take_whole_lines(block.substr(end + 1)));
  }
  if (rest_.size() > kLineBytesMax)
    return error(0, "the line is longer than 16 MiB", "Is this a LIBSVM file?");
  return {};
}

Result<void> LibsvmLines::end() { return rest_.empty() ? Result<void>() : take_line(rest_); }

Result<std::string_view> LibsvmLines::take_whole_lines(std::string_view text) {
  for (size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    if (end > kLineBytesMax)
      return error(0, "the line is longer than 16 MiB", "Is this a LIBSVM file?");
    TRY(take_line(text.substr(0, end)));
    ++line_;
  }
  return text;
}

Result<void> LibsvmLines::take_line(std::string_view text) {
  text = text.substr(0, text.find('#'));
  record_.label = {};
  record_.entries.clear();
  uint64_t index = 0, last = 0;
  for (size_t at = 0;;) {
    while (at < text.size() && is_blank(text[at])) ++at;
    if (at == text.size()) break;
    const size_t begin = at;
    while (at < text.size() && !is_blank(text[at])) ++at;
    const std::string_view word = text.substr(begin, at - begin);
    if (record_.label.empty()) {
      record_.label = word;
      continue;
    }
    const size_t colon = index_in(word, index);
    if (colon == 0)
      return error(begin, "this is not INDEX:VALUE with a whole INDEX from 1",
                   "A line of a LIBSVM file is LABEL INDEX:VALUE INDEX:VALUE ...");
    if (index <= last)
      return error(begin, "the indices of a line must go up", "Sort the line by its indices.");
    last = index;
    record_.entries.push_back({index, quick_number(word.substr(colon + 1))});
  }
  if (!record_.label.empty()) take_(record_);
  return {};
}

}  // namespace parley::learn
