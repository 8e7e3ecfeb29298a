#include "parley/protocol/vertical/cells/legal_rows.h"

#include <sodium.h>

namespace parley::protocol::ot {

Words test_vectors(const Hash& seed, size_t rows) {
  Words vectors(rows, kTests);
  const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES] = {};
  static_assert(sizeof(Hash) == crypto_stream_chacha20_KEYBYTES);
  check(crypto_stream_chacha20(reinterpret_cast<uint8_t*>(vectors.values.data()),
                               vectors.values.size() * sizeof(uint64_t), nonce, seed.data()) == 0);
  return vectors;
}

WipedVector<uint64_t> tested_numbers(std::span<const int64_t> rows, const Words& vectors) {
  const size_t records = rows.size() / vectors.rows;
  WipedVector<uint64_t> numbers(records * kTests);
  for (size_t i = 0; i < records; ++i)
    for (size_t column = 0; column < vectors.rows; ++column) {
      const auto number = static_cast<uint64_t>(rows[i * vectors.rows + column]);
      for (size_t test = 0; test < kTests; ++test)
        numbers[i * kTests + test] += number * vectors.at(column, test);
    }
  return numbers;
}

WipedVector<uint64_t> compared_words(const Words& share, const Words& vectors,
                                     const Words& test_share) {
  check(share.rows == vectors.rows && test_share.rows == share.columns &&
        test_share.columns == kTests);
  Words sum = test_share;
  for (size_t row = 0; row < share.rows; ++row)
    for (size_t column = 0; column < share.columns; ++column)
      for (size_t test = 0; test < kTests; ++test)
        sum.at(column, test) += share.at(row, column) * vectors.at(row, test);
  return sum.values;
}

void reduce(std::span<uint64_t> words) {
  for (uint64_t& word : words) word &= (uint64_t{1} << kWordBits) - 1;
}

int64_t signed_number(uint64_t word) {
  constexpr unsigned kSpare = 64 - kWordBits;
  return static_cast<int64_t>(word << kSpare) >> kSpare;
}

}  // namespace parley::protocol::ot
