// From the strings of a cell's transfers to its leaves (the tree of Goldreich, Goldwasser and
// Micali, punctured by oblivious transfers). The sender has all 2^height leaves of every record,
// the receiver all but the one that it chose, and the sender does not know which that is.
//
// The two nodes of level 1 are the strings of the first transfer. Below, a node has two children;
// for every level from the second on the sender gives, masked by the two strings of that level's
// transfer, the sum (exclusive or) of all left and of all right children. The receiver can take off
// one mask: the one on the side that its path leaves, where exactly one node is missing to it.
#pragma once

#include <span>
#include <vector>

#include "parley/base/result.h"
#include "parley/protocol/vertical/ot/hashes.h"

namespace parley::protocol::ot {

/// Strings of one cell: level l of record i is all[i * stride + offset + l].
template <class String>
struct CellStrings {
  std::span<const String> all;
  size_t offset = 0, stride = 0;
  const String& at(size_t record, size_t level) const {
    return all[record * stride + offset + level];
  }
};

class Trees {
 public:
  explicit Trees(const Direction& direction);

  struct Grown {
    Blocks leaves;       // 2^height for every record
    Blocks corrections;  // two for every record and level from the second on
  };
  Grown grow(uint32_t height, size_t records,
             const CellStrings<std::array<Block, 2>>& strings) const;

  /// The leaf that the receiver chose stays zero. `chosen` has one leaf a record; no time and no
  /// address depends on it. `corrections` as `grow` made them, or as a dishonest sender did.
  Blocks puncture(uint32_t height, std::span<const uint32_t> chosen,
                  const CellStrings<Block>& strings, std::span<const Block> corrections) const;

 private:
  /// Children of every node, side by side.
  Blocks children(std::span<const Block> nodes) const;
  Aes left_, right_;
};

}  // namespace parley::protocol::ot
