// Choices without branches and without addresses that depend on what is chosen.
#pragma once

#include <cstdint>

namespace parley {

/// All ones if the bit is 1, else 0.
inline uint64_t mask_of(uint64_t bit) { return uint64_t{0} - bit; }

/// All ones if a == b, else 0.
inline uint64_t equal_mask(uint64_t a, uint64_t b) {
  const uint64_t differs = a ^ b;
  return ((differs | (uint64_t{0} - differs)) >> 63) - 1;
}

}  // namespace parley
