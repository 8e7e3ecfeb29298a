// A lifetime budget and the two tracks behind it, fixed before the first charge.
//
// Promise: (pure_max + eps_zCDP(rho_max, delta_convert), delta_convert + delta_extra)-DP for
// everything ever released, however the charges are chosen. Proof: every charge is booked on
// exactly one track, so on every path the Renyi divergences of order alpha add up to at most
// pure_max + rho_max alpha, for every alpha; fully adaptive composition (Feldman, Zrnic 2021;
// Whitehouse et al. 2023 for the delta part) gives RDP(alpha) <= pure_max + rho_max alpha, which is
// converted once. A split that floats between the tracks is not covered, hence fixed.
#pragma once

#include "parley/privacy/mechanism.h"
#include "parley/privacy/units.h"

namespace parley::privacy {

struct Budget {
  double epsilon = 0;  // the promise, as a person reads it
  double delta = 0;
  double pure_max = 0;
  double rho_max = 0;
  double delta_convert = 0;
  double delta_extra = 0;

  /// Splits a promise: `pure` of epsilon for charges booked as pure, the rest becomes rho. A
  /// thousandth of delta is kept for mechanisms with a delta of their own.
  static Result<Budget> make(Epsilon epsilon, double delta, double pure);
  /// The `pure` of a promise that does not say: without a delta all of it, else nothing.
  static double pure_unless_said(double epsilon, double delta) { return delta == 0 ? epsilon : 0; }
  bool operator==(const Budget&) const = default;
};

/// What has been spent, track by track; sums are rounded up.
struct Spent {
  double pure = 0;
  double rho = 0;
  double delta = 0;

  Spent plus(const Cost& cost) const;
  bool within(const Budget& budget) const;
  /// As one epsilon, with rho converted at this part of delta (Budget::delta_convert).
  double epsilon(double delta_convert) const;
};

}  // namespace parley::privacy
