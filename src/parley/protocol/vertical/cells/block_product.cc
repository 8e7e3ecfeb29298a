#include "parley/protocol/vertical/cells/block_product.h"

#include <algorithm>
#include <utility>

namespace parley::protocol::ot {

size_t pool_size(size_t columns, unsigned bits) { return columns * bits; }

BlockChooser::BlockChooser(std::span<const int64_t> n, unsigned bits,
                           std::span<const uint8_t> zeta) {
  check(zeta.size() == pool_size(n.size(), bits));
  const int64_t half = int64_t{1} << (bits - 1);
  for (size_t j = 0; j < n.size(); ++j) {
    check(n[j] >= -half && n[j] < half);
    n_.push_back(static_cast<uint64_t>(n[j]));
    const auto shifted = static_cast<uint64_t>(n[j] + half);
    for (unsigned bit = 0; bit < bits; ++bit) {
      chosen_.push_back(shifted >> bit & 1);
      flips_.push_back(static_cast<uint8_t>(chosen_.back() ^ zeta[flips_.size()]));
    }
  }
}

Result<WipedVector<uint64_t>> BlockChooser::conclude(const LeafWords& hash,
                                                     std::span<const Block> strings, const Words& q,
                                                     std::span<const uint64_t> words) const {
  check(strings.size() == chosen_.size() && hash.columns() == q.rows && q.columns >= n_.size());
  if (words.size() != chosen_.size() * q.rows)
    return Error{Code::kIntegrity, "words of a round that are too many or too few"};
  WipedVector<uint64_t> own;
  hash.of(strings, own);
  return opened_sum(own, words, chosen_, q, n_);
}

WipedVector<uint64_t> opened_sum(std::span<const uint64_t> own, std::span<const uint64_t> words,
                                 std::span<const uint8_t> chosen, const Words& q,
                                 std::span<const uint64_t> n) {
  WipedVector<uint64_t> sum(q.rows);
  for (size_t t = 0; t < chosen.size(); ++t) {
    const uint64_t mask = mask_of(chosen[t]);
    for (size_t row = 0; row < q.rows; ++row)
      sum[row] += own[t * q.rows + row] + (words[t * q.rows + row] & mask);
  }
  for (size_t row = 0; row < q.rows; ++row)
    for (size_t j = 0; j < n.size(); ++j) sum[row] -= q.at(row, j) * n[j];
  return sum;
}

BlockAnswer masked_share(WipedVector<uint64_t> taken, std::span<const uint64_t> others,
                         const Words& p, size_t columns, unsigned bits) {
  BlockAnswer answer{std::move(taken), WipedVector<uint64_t>(p.rows)};
  for (size_t j = 0, t = 0; j < columns; ++j)
    for (unsigned bit = 0; bit < bits; ++bit, ++t)
      for (size_t row = 0; row < p.rows; ++row) {
        uint64_t& word = answer.words[t * p.rows + row];
        answer.mask[row] += word;
        word += (p.at(row, j) << bit) - others[t * p.rows + row];
      }
  const uint64_t half = uint64_t{1} << (bits - 1);
  for (size_t row = 0; row < p.rows; ++row)
    for (size_t j = 0; j < columns; ++j) answer.mask[row] += half * p.at(row, j);
  return answer;
}

Result<BlockAnswer> answer_block(const LeafWords& hash,
                                 std::span<const std::array<Block, 2>> strings, const Words& p,
                                 size_t columns, unsigned bits, std::span<const uint8_t> flips) {
  check(strings.size() == pool_size(columns, bits) && hash.columns() == p.rows &&
        p.columns >= columns);
  if (flips.size() != strings.size() || std::ranges::any_of(flips, [](uint8_t f) { return f > 1; }))
    return Error{Code::kIntegrity, "bits of a round that are too many, too few, or no bits"};
  Blocks taken, other;
  for (size_t t = 0; t < strings.size(); ++t) {
    taken.push_back(strings[t][flips[t]]);
    other.push_back(strings[t][1 - flips[t]]);
  }
  WipedVector<uint64_t> words, others;
  hash.of(taken, words);
  hash.of(other, others);
  return masked_share(std::move(words), others, p, columns, bits);
}

}  // namespace parley::protocol::ot
