// GF(2^128) = GF(2)[x] / (x^128 + x^7 + x^2 + x + 1); bit 0 is the lowest bit of byte 0.
// Time and addresses do not depend on what is multiplied.
#pragma once

#include "parley/protocol/vertical/ot/block.h"

namespace parley::protocol::ot {

Block times(const Block& a, const Block& b);

/// A column of bits as a polynomial in h: s = s h ^ block, first block first. Two different columns
/// of b blocks agree for at most b - 1 of the 2^128 values of h; the last block, which is random,
/// hides the others.
Block column_hash(const Block& h, std::span<const Block> column);

/// The same by shifts and masks alone, for processors without a carry-less multiplication.
Block times_by_masks(const Block& a, const Block& b);

}  // namespace parley::protocol::ot
