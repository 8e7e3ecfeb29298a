// Privacy quantities as types: an epsilon cannot be passed where a delta is expected.
#pragma once

#include <limits>
#include <string>

#include "parley/base/result.h"

namespace parley::privacy {

/// A number in the open interval (0, Tag::kLimit).
template <class Tag>
class Quantity {
 public:
  /// For constants. Epsilon{0.0} does not compile.
  consteval explicit Quantity(double value) : value_(value) {
    if (!in_range(value)) throw "out of range";
  }

  /// For values that arrive at run time: flags, configuration, peers.
  static Result<Quantity> make(double value) {
    if (!in_range(value))
      return Error{Code::kInvalid, std::string(Tag::kName) + " is out of range"};
    return Quantity(value, Checked{});
  }

  constexpr double value() const { return value_; }

 private:
  struct Checked {};
  constexpr Quantity(double value, Checked) : value_(value) {}
  static constexpr bool in_range(double value) { return 0 < value && value < Tag::kLimit; }

  double value_;
};

struct EpsilonTag {
  static constexpr auto kName = "epsilon";
  static constexpr double kLimit = std::numeric_limits<double>::infinity();
};
struct DeltaTag {
  static constexpr auto kName = "delta";
  static constexpr double kLimit = 1;
};
struct RhoTag {
  static constexpr auto kName = "rho";
  static constexpr double kLimit = std::numeric_limits<double>::infinity();
};

using Epsilon = Quantity<EpsilonTag>;
using Delta = Quantity<DeltaTag>;
using Rho = Quantity<RhoTag>;  // zero-concentrated differential privacy

}  // namespace parley::privacy
