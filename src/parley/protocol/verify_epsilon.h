// A second accountant: what releases cost together, from their events alone. It shares nothing with
// the mechanisms and the ledger, so that a mistake there is not repeated here.
#pragma once

#include <string>

#include "parley/base/result.h"

namespace parley::protocol {

/// Basic composition: pure losses add up, D/t for discrete Laplace noise of scale t on a sum that
/// one unit moves by at most D.
class SecondAccountant {
 public:
  static constexpr char kName[] = "basic composition";

  /// kIntegrity for an event of another kind: this accountant cannot vouch for it.
  Result<void> add(const std::string& event);

  double epsilon() const { return static_cast<double>(epsilon_); }
  double delta() const { return 0; }

  /// Is that what a ledger says about the same events? It rounds every sum up, a million of them by
  /// less than this tolerance.
  bool agrees(double epsilon, double delta) const;

 private:
  long double epsilon_ = 0;
};

}  // namespace parley::protocol
