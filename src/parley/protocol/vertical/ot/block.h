// 16 bytes: a block of AES, a string of a transfer, a node of a tree. Vectors of them are wiped
// when they are freed.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "parley/base/entropy.h"
#include "parley/base/math/masks.h"
#include "parley/base/memory/wiped.h"

namespace parley::protocol::ot {

static_assert(std::endian::native == std::endian::little, "blocks are sent as they lie in memory");

struct Block {
  uint64_t low = 0, high = 0;  // bytes 0 to 7 and 8 to 15, little-endian

  bool operator==(const Block&) const = default;
  Block& operator^=(const Block& other) {
    low ^= other.low;
    high ^= other.high;
    return *this;
  }
};
inline Block operator^(Block a, const Block& b) { return a ^= b; }
inline Block operator&(const Block& a, uint64_t mask) { return {a.low & mask, a.high & mask}; }
static_assert(sizeof(Block) == 16);

using Blocks = WipedVector<Block>;
using BlockPairs = WipedVector<std::array<Block, 2>>;

inline Block draw_block(Entropy& entropy) {
  const uint64_t low = entropy.word();
  return {low, entropy.word()};
}

inline std::span<const uint8_t> as_bytes(std::span<const Block> blocks) {
  return {reinterpret_cast<const uint8_t*>(blocks.data()), blocks.size_bytes()};
}

}  // namespace parley::protocol::ot
