// Who adds noise to a sum that no one sees in parts, and how much of it must be there.
#pragma once

#include <cstdint>

#include "parley/base/result.h"

namespace parley::privacy {

struct Parties {
  uint32_t present = 0;    // m: most shares in the sum
  uint32_t survivors = 0;  // s: with fewer no sum is opened
  uint32_t colluders = 0;  // c: owners that may subtract their own noise

  static Result<Parties> make(uint32_t present, uint32_t survivors, uint32_t colluders) {
    if (colluders < 1 || survivors <= colluders || present < survivors || present > 1'000'000)
      return Error{Code::kInvalid,
                   "a sum of shares needs colluders of at least 1, more survivors than colluders, "
                   "and at least as many owners as survivors",
                   "For three owners: survivors = 3 and colluders = 1."};
    return Parties{present, survivors, colluders};
  }
  /// Shares that are surely in the sum and whose noise nobody else knows.
  uint32_t honest() const { return survivors - colluders; }
};

}  // namespace parley::privacy
