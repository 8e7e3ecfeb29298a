#include "parley/protocol/vertical/cells/word_sums.h"

#include "parley/base/math/masks.h"
#include "parley/base/result.h"

namespace parley::protocol::ot {

Words operator-(const Words& a, const Words& b) {
  check(a.rows == b.rows && a.columns == b.columns);
  Words difference = a;
  for (size_t i = 0; i < b.values.size(); ++i) difference.values[i] -= b.values[i];
  return difference;
}

std::vector<Words> leaf_sums(const learn::Cells& cells, size_t columns) {
  std::vector<Words> sums;
  for (const learn::Cell& cell : cells) sums.emplace_back(cell.leaves(), columns);
  return sums;
}

Words gathered(const learn::Cells& cells, const std::vector<Words>& sums, size_t own_columns) {
  Words share(own_columns, sums.front().columns);
  for (size_t e = 0; e < cells.size(); ++e)
    for (const learn::Adds& adds : cells[e].adds)
      for (size_t c = 0; c < share.columns; ++c)
        share.at(adds.column, c) += static_cast<uint64_t>(adds.amount) * sums[e].at(adds.leaf, c);
  return share;
}

void add_all(std::span<const uint64_t> words, Words& sums) {
  for (size_t at = 0; at < words.size(); at += sums.values.size())
    for (size_t i = 0; i < sums.values.size(); ++i) sums.values[i] += words[at + i];
}

void add_leaves(std::span<const uint64_t> words, std::span<uint64_t> sent) {
  for (size_t leaf = 0; leaf < words.size(); leaf += sent.size())
    for (size_t c = 0; c < sent.size(); ++c) sent[c] += words[leaf + c];
}

void fill_missing(std::span<uint64_t> words, std::span<const uint64_t> sent, uint32_t chosen,
                  size_t leaves) {
  const size_t columns = sent.size();
  for (size_t leaf = 0; leaf < leaves; ++leaf) {
    const uint64_t other = ~equal_mask(leaf, chosen);
    for (size_t c = 0; c < columns; ++c) words[leaf * columns + c] &= other;
  }
  for (size_t c = 0; c < columns; ++c) {
    uint64_t left = sent[c];
    for (size_t leaf = 0; leaf < leaves; ++leaf) left -= words[leaf * columns + c];
    for (size_t leaf = 0; leaf < leaves; ++leaf)
      words[leaf * columns + c] |= left & equal_mask(leaf, chosen);
  }
}

}  // namespace parley::protocol::ot
