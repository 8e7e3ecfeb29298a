// The norms in which a record's contribution is bounded. Types, so that noise calibrated to one
// norm cannot be added to a sum bounded in the other.
#pragma once

#include <string_view>

namespace parley {

struct L1 {
  static constexpr std::string_view kName = "l1";
};
struct L2 {
  static constexpr std::string_view kName = "l2";
};

}  // namespace parley
