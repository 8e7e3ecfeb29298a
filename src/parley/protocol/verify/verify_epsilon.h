// A second accountant: computes what releases cost together from their events alone. It shares no
// code with the mechanisms and the ledger, so that a mistake there is not repeated here.
#pragma once

#include <string>
#include <string_view>

#include "parley/base/result.h"

namespace parley::protocol {

/// Pure losses add up, which is basic composition, D/t for discrete Laplace noise of scale t on a
/// sum that one unit moves by at most D; and so do rho, D^2 / (2 s2) for discrete Gaussian noise of
/// variance s2, and what the sum of shares of noise costs under secure aggregation, which become an
/// epsilon at a delta.
class SecondAccountant {
 public:
  /// By what was added: pure losses alone, or rho as well.
  std::string_view name() const { return rho_ > 0 ? "zCDP" : "basic composition"; }

  /// kIntegrity for an event of another kind: this accountant cannot vouch for it.
  Result<void> add(const std::string& event);

  /// At this delta, which counts only if there was Gaussian noise; infinite if it is not in (0, 1).
  double epsilon(double delta) const;

  /// Is that what a ledger says about the same events, at its delta? It rounds every sum up, a
  /// million of them by less than this tolerance.
  bool agrees(double epsilon, double delta) const;

 private:
  long double pure_ = 0, rho_ = 0;
};

}  // namespace parley::protocol
