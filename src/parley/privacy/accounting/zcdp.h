// Zero-concentrated differential privacy and its tight conversion (Bun, Steinke 2016; Canonne,
// Kamath, Steinke 2020, Proposition 12):
//
//   delta(rho, eps) = inf over alpha > 1 of exp((alpha-1)(alpha rho - eps)) (1-1/alpha)^alpha /
//   (alpha-1)
#pragma once

#include "parley/privacy/units.h"

namespace parley::privacy {

/// The smallest epsilon found with rho-zCDP => (epsilon, delta)-DP. Every alpha gives a valid
/// bound, so an imperfect minimum is on the safe side; 0 for rho = 0.
double zcdp_epsilon(double rho, Delta delta);

/// A rho whose zcdp_epsilon is at most `epsilon`: the safe end of a bisection; 0 for epsilon = 0.
double zcdp_rho(double epsilon, Delta delta);

}  // namespace parley::privacy
