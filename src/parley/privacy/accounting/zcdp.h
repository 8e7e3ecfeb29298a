// Zero-concentrated differential privacy: Renyi divergence of order alpha at most rho alpha (Bun,
// Steinke 2016), converted tightly (conversion.h).
#pragma once

#include "parley/privacy/units.h"

namespace parley::privacy {

/// The smallest epsilon found with rho-zCDP => (epsilon, delta)-DP; 0 for rho = 0.
double zcdp_epsilon(double rho, Delta delta);

/// The smallest delta found with rho-zCDP => (epsilon, delta)-DP; 0 for rho = 0.
double zcdp_delta(double rho, double epsilon);

/// A rho, found by bisection, whose zcdp_epsilon is at most `epsilon`; 0 for epsilon = 0.
double zcdp_rho(double epsilon, Delta delta);

/// The largest zCDP of an epsilon-DP mechanism: epsilon tanh(epsilon/2), at most epsilon^2/2,
/// rounded up. Randomized response attains it.
double zcdp_of_pure(double epsilon);

}  // namespace parley::privacy
