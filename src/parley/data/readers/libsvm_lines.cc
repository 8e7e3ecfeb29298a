#include "parley/data/readers/libsvm_lines.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "parley/base/math/avx2.h"
#include "parley/data/readers/quick_number.h"

namespace parley::data {
namespace {

constexpr uint64_t kIndexMax = uint64_t{1} << 53;

int line_place(size_t number) {
  return static_cast<int>(std::min<size_t>(number, std::numeric_limits<int>::max()));
}

/// Among the next 64 characters, where an index or a word ends: at a colon, a blank, and after the
/// end of the text.
uint64_t stops_in(std::string_view text) {
  constexpr size_t kBlock = 64;
  const char* at = text.data();
  char padded[kBlock] = {};
  if (text.size() < kBlock) {
    std::memcpy(padded, text.data(), text.size());
    at = padded;
  }
  const auto half = [](const char* from) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    const __m256i from_tab = _mm256_sub_epi8(bytes, _mm256_set1_epi8('\t'));
    const __m256i is_blank = _mm256_or_si256(
        _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(' ')),
        _mm256_cmpeq_epi8(_mm256_min_epu8(from_tab, _mm256_set1_epi8('\r' - '\t')), from_tab));
    const __m256i is_colon = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(':'));
    return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_or_si256(is_blank, is_colon)));
  };
  const uint64_t stops = half(at) | uint64_t{half(at + kBlock / 2)} << 32;
  return text.size() < kBlock ? stops | uint64_t{1} << text.size() : stops;
}

/// The whole number that all of `text` is, or 0.
uint64_t index_in(std::string_view text) {
  if (text.size() - 1 < 8) {  // 1 to 8
    const uint64_t digits = word::of_short(text.data(), text.size());
    return word::whole(digits, text.size());
  }
  uint64_t index = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '9' || index >= kIndexMax) return 0;
    index = 10 * index + static_cast<uint64_t>(text[i] - '0');
  }
  return index;
}

}  // namespace

Error LibsvmLines::error(size_t column, std::string what, std::string hint) const {
  return {Code::kInvalid,
          std::move(what),
          std::move(hint),
          {.line = line_place(line_), .column = line_place(column + 1)}};
}

Error LibsvmLines::error(size_t column, Found found) const {
  if (found == Found::kIndexBack)
    return error(column, "the indices of a line must go up", "Sort the line by its indices.");
  return error(column, "this is not INDEX:VALUE with a whole INDEX from 1",
               "A line of a LIBSVM file is LABEL INDEX:VALUE INDEX:VALUE ...");
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
  constexpr size_t kNone = std::string_view::npos;
  text = text.substr(0, text.find('#'));
  record_.label = {};
  record_.entries.clear();
  last_ = 0;
  size_t begin = 0, colon = kNone;  // of the word at hand
  for (size_t block = 0; block <= text.size(); block += 64) {
    for (uint64_t stops = stops_in(text.substr(block)); stops != 0; stops &= stops - 1) {
      const size_t stop = block + std::countr_zero(stops);
      if (stop < text.size() && text[stop] == ':') {
        if (colon == kNone) colon = stop;
        continue;
      }
      const Found found = stop > begin ? take_word(text, begin, colon, stop) : Found::kWord;
      if (found != Found::kWord) return error(begin, found);
      begin = stop + 1;
      colon = kNone;
    }
  }
  if (!record_.label.empty()) take_(record_);
  return {};
}

/// The word from `begin` to `end` whose first colon, if it has one, is at `colon`.
inline LibsvmLines::Found LibsvmLines::take_word(std::string_view text, size_t begin, size_t colon,
                                                 size_t end) {
  if (record_.label.empty()) {
    record_.label = text.substr(begin, end - begin);
    return Found::kWord;
  }
  const uint64_t index = colon < end ? index_in(text.substr(begin, colon - begin)) : 0;
  if (index == 0) return Found::kNoIndex;
  if (index <= last_) return Found::kIndexBack;
  last_ = index;
  record_.entries.emplace_back(index, quick_number(text.substr(colon + 1, end - colon - 1)));
  return Found::kWord;
}

}  // namespace parley::data
