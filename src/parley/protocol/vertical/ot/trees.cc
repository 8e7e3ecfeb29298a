#include "parley/protocol/vertical/ot/trees.h"

#include <array>

namespace parley::protocol::ot {
namespace {

/// The sum of all left and of all right children among `nodes`.
std::array<Block, 2> sides(std::span<const Block> nodes) {
  std::array<Block, 2> sum{};
  for (size_t i = 0; i < nodes.size(); i += 2) {
    sum[0] ^= nodes[i];
    sum[1] ^= nodes[i + 1];
  }
  return sum;
}

Block select(const std::array<Block, 2>& pair, uint64_t bit) {
  return pair[0] ^ ((pair[0] ^ pair[1]) & mask_of(bit));
}

/// One more level of one record: forget both children of the missing node, then find the one that
/// is not on the path.
void next_level(std::span<Block> nodes, uint64_t path, uint64_t bit, const Block& string,
                const std::array<Block, 2>& corrections) {
  for (size_t node = 0; node < nodes.size(); ++node)
    nodes[node] = nodes[node] & ~equal_mask(node / 2, path);
  const uint64_t side = 1 - bit;
  const Block found = string ^ select(corrections, side) ^ select(sides(nodes), side);
  for (size_t node = 0; node < nodes.size(); ++node)
    nodes[node] ^= found & equal_mask(node, 2 * path + side);
}

}  // namespace

Trees::Trees(const Direction& direction)
    : left_(public_key(direction, "ggm0")), right_(public_key(direction, "ggm1")) {}

Blocks Trees::children(std::span<const Block> nodes) const {
  Blocks left(nodes.size()), right(nodes.size()), both(2 * nodes.size());
  hash_each(left_, nodes, left);
  hash_each(right_, nodes, right);
  for (size_t i = 0; i < nodes.size(); ++i) {
    both[2 * i] = left[i];
    both[2 * i + 1] = right[i];
  }
  return both;
}

Trees::Grown Trees::grow(uint32_t height, size_t records,
                         const CellStrings<std::array<Block, 2>>& strings) const {
  Grown grown;
  for (size_t i = 0; i < records; ++i)
    for (const Block& string : strings.at(i, 0)) grown.leaves.push_back(string);
  grown.corrections.resize(2 * records * (height - 1));
  for (uint32_t level = 1; level < height; ++level) {
    grown.leaves = children(grown.leaves);
    const size_t width = grown.leaves.size() / records;
    for (size_t i = 0; i < records; ++i) {
      const auto sum = sides(std::span(grown.leaves).subspan(i * width, width));
      for (size_t side = 0; side < 2; ++side)
        grown.corrections[2 * (i * (height - 1) + level - 1) + side] =
            strings.at(i, level)[side] ^ sum[side];
    }
  }
  return grown;
}

Blocks Trees::puncture(uint32_t height, std::span<const uint32_t> chosen,
                       const CellStrings<Block>& strings,
                       std::span<const Block> corrections) const {
  const size_t records = chosen.size();
  check(corrections.size() == 2 * records * (height - 1));
  Blocks nodes(2 * records);
  for (size_t i = 0; i < records; ++i) {
    const uint64_t bit = chosen[i] >> (height - 1) & 1;
    nodes[2 * i] = strings.at(i, 0) & mask_of(bit);
    nodes[2 * i + 1] = strings.at(i, 0) & mask_of(1 - bit);
  }
  for (uint32_t level = 1; level < height; ++level) {
    nodes = children(nodes);
    const size_t width = nodes.size() / records;
    for (size_t i = 0; i < records; ++i) {
      const uint64_t path = chosen[i] >> (height - level);
      const uint64_t bit = chosen[i] >> (height - level - 1) & 1;
      const size_t at = 2 * (i * (height - 1) + level - 1);
      next_level(std::span(nodes).subspan(i * width, width), path, bit, strings.at(i, level),
                 {corrections[at], corrections[at + 1]});
    }
  }
  return nodes;
}

}  // namespace parley::protocol::ot
