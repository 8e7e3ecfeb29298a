// Reads what an owner kept on its disk, from the front. Nothing where bytes are missing.
#pragma once

#include <algorithm>
#include <optional>

#include "parley/base/bytes.h"
#include "parley/protocol/vertical/cells/word_sums.h"

namespace parley::protocol {

class Kept {
 public:
  explicit Kept(ByteView bytes) : left_(bytes) {}

  std::optional<uint64_t> number() {
    if (left_.size() < sizeof(uint64_t)) return std::nullopt;
    const uint64_t number = read_little_endian(left_.data());
    left_ = left_.subspan(sizeof(uint64_t));
    return number;
  }
  std::optional<Hash> hash() {
    Hash hash;
    if (left_.size() < hash.size()) return std::nullopt;
    std::copy_n(left_.begin(), hash.size(), hash.begin());
    left_ = left_.subspan(hash.size());
    return hash;
  }
  std::optional<ot::Words> words() {
    const auto rows = number(), columns = number();
    const uint64_t most = left_.size() / sizeof(uint64_t);
    if (!rows || !columns || *rows > most || *columns > most || *rows * *columns > most)
      return std::nullopt;
    ot::Words words(*rows, *columns);
    for (uint64_t& word : words.values) word = *number();
    return words;
  }
  std::optional<std::vector<int64_t>> values() {
    const auto count = number();
    if (!count || *count > left_.size() / sizeof(uint64_t)) return std::nullopt;
    std::vector<int64_t> values(*count);
    for (int64_t& value : values) value = static_cast<int64_t>(*number());
    return values;
  }
  bool is_at_end() const { return left_.empty(); }

 private:
  ByteView left_;
};

}  // namespace parley::protocol
