// The hash functions of oblivious transfer and of trees: AES-128 under public keys of a session.
//
// AES under a public key is treated as an ideal permutation pi; other sessions and directions have
// other permutations:
//
//   children of a node, words of a leaf   pi(x) ^ x               (Matyas, Meyer, Oseas)
//   strings of transfer j                 pi(pi(x) ^ j) ^ pi(x)   (Guo, Katz, Wang, Weng, Yu 2020)
//
// The second one is tweakable circular correlation robust, as the extension requires, because its
// inputs differ by one delta.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/protocol/vertical/ot/block.h"

namespace parley::protocol::ot {

/// Who receives and who sends, by their places in the roster, and in which session.
struct Direction {
  Hash session{};
  uint32_t receiver = 0, sender = 0;
};

/// BLAKE2b keyed by the session: of a label, the two places, further numbers of 4 bytes, and bytes.
void session_hash(const Direction& direction, std::string_view label,
                  std::span<const uint32_t> numbers, std::span<const ByteView> rest,
                  std::span<uint8_t> out);

/// A public key for AES, of its own for every label and index.
Block public_key(const Direction& direction, std::string_view label, uint32_t index = 0);

/// AES-128 under one key, many blocks at a time.
class Aes {
 public:
  explicit Aes(const Block& key);
  void encrypt(std::span<const Block> in, std::span<Block> out) const;

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;
};

/// pi(x) ^ x for every x. `out` must not overlap `in`.
void hash_each(const Aes& pi, std::span<const Block> in, std::span<Block> out);

/// The string of transfer first + i for every row i. `out` must not overlap `rows`.
void hash_transfers(const Aes& pi, std::span<const Block> rows, uint64_t first,
                    std::span<Block> out);

/// Block i of the stream of `key` from block `first` on: AES of the counter, which is
/// little-endian.
void key_stream(const Block& key, uint64_t first, std::span<Block> out);

/// The words that a leaf stands for: one for every column, modulo 2^64. Two columns share a block.
class LeafWords {
 public:
  LeafWords(const Direction& direction, size_t columns);

  size_t columns() const { return columns_; }
  /// Words of every leaf, leaf by leaf, `columns()` each.
  void of(std::span<const Block> leaves, WipedVector<uint64_t>& words) const;

 private:
  size_t columns_;
  std::vector<Aes> aes_;
};

}  // namespace parley::protocol::ot
