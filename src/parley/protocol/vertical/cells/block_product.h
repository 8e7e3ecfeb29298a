// One round's block: C[m,k] n[k] with P at m and Q at k (P - Q = C modulo 2^56), n[k] whole numbers
// of k in a box, -H <= n_j < H, H = 2^(bits-1). m gets the product plus what k adds to it (noise,
// masks), k gets nothing.
//
// k's bits choose among strings of transfers that were made before with random choices zeta (the
// pool: receiver k, sender m), one for every column of k and bit of n + H:
//   1. k -> m: the bits of n + H, each ^ zeta
//   2. m -> k: for every transfer the words F(string of that bit) + 2^bit P[., j] - F(other string)
//   3. k -> m: v = the sum of what it could open - Q n + noise, modulo 2^56
// m takes off the sum of F(string of that bit), and H P 1, which n + H has too much. There is no n
// outside the box that k could express, and a wrong v only adds a number that k knows.
//
// A second message 1 with other bits, answered under the same strings, would show 2 P: m answers
// one place of the pool once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parley/protocol/vertical/cells/product.h"

namespace parley::protocol::ot {

/// Transfers of the pool that a block needs.
size_t pool_size(size_t columns, unsigned bits);

/// k's side.
class BlockChooser {
 public:
  /// `n` has one number for each of the first columns of Q: all of the model's.
  BlockChooser(std::span<const int64_t> n, unsigned bits, std::span<const uint8_t> zeta);
  /// Message 1: one bit a byte.
  const WipedVector<uint8_t>& flips() const { return flips_; }
  /// Message 3 without noise: C n, masked. `words` is message 2; an error for another length.
  Result<WipedVector<uint64_t>> conclude(const LeafWords& hash, std::span<const Block> strings,
                                         const Words& q, std::span<const uint64_t> words) const;

 private:
  WipedVector<uint64_t> n_;
  WipedVector<uint8_t> chosen_, flips_;
};

/// The sum of what k could open: its own words, and those of message 2 where its bit is 1; less Q
/// n.
WipedVector<uint64_t> opened_sum(std::span<const uint64_t> own, std::span<const uint64_t> words,
                                 std::span<const uint8_t> chosen, const Words& q,
                                 std::span<const uint64_t> n);

/// m's side: message 2, and what m takes off message 3.
struct BlockAnswer {
  WipedVector<uint64_t> words;
  WipedVector<uint64_t> mask;
};
/// From the words of the strings that message 1 names, and of the others.
BlockAnswer masked_share(WipedVector<uint64_t> taken, std::span<const uint64_t> others,
                         const Words& p, size_t columns, unsigned bits);
/// An error for bits that are too many, too few, or not bits.
Result<BlockAnswer> answer_block(const LeafWords& hash,
                                 std::span<const std::array<Block, 2>> strings, const Words& p,
                                 size_t columns, unsigned bits, std::span<const uint8_t> flips);

}  // namespace parley::protocol::ot
