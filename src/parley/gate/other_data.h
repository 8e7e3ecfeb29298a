// What every gate says of data that its charter was not written for: public numbers only.
#pragma once

#include <cstdint>
#include <string>

#include "parley/base/result.h"

namespace parley::gate {

inline Error other_data(const std::string& what, uint64_t expected, uint64_t found) {
  return {.code = Code::kInvalid,
          .what = "the charter says " + std::to_string(expected) + " " + what + ", the data has " +
                  std::to_string(found),
          .hint = "Give the data the charter was written for, or agree on a new charter."};
}

}  // namespace parley::gate
