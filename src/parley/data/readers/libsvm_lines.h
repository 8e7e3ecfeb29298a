// Splits LIBSVM text into lines of a label and values, block by block.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/result.h"

namespace parley::data {

/// Valid until the callback that received it returns.
struct LibsvmLine {
  struct Entry {
    Entry(uint64_t index, double value) : index(index), value(value) {}
    uint64_t index;  // from 1
    double value;    // finite, or kNoNumber
  };
  std::string_view label{};
  std::vector<Entry> entries{};  // indices go up
};

/// Blank lines, and lines with nothing but a comment, are no records.
class LibsvmLines {
 public:
  using Take = std::function<void(const LibsvmLine&)>;
  static constexpr size_t kLineBytesMax = 16 << 20;

  explicit LibsvmLines(Take take) : take_(std::move(take)) {}

  /// The next block of the file. After an error no more blocks may follow.
  Result<void> feed(std::string_view block);
  /// After the last block: the last line need not end with a new line.
  Result<void> end();
  /// The line of the file that is reached.
  size_t line() const { return line_; }

 private:
  Result<std::string_view> take_whole_lines(std::string_view text);
  Result<void> take_line(std::string_view text);
  enum class Found { kWord, kNoIndex, kIndexBack };  // A Result for each word would take too long.
  Found take_word(std::string_view text, size_t begin, size_t colon, size_t end);
  Error error(size_t column, std::string what, std::string hint) const;
  Error error(size_t column, Found found) const;

  Take take_;
  LibsvmLine record_{};
  uint64_t last_ = 0;   // index of the line at hand
  std::string rest_{};  // the start of a line whose end is still to come
  size_t line_ = 1;
};

}  // namespace parley::data
