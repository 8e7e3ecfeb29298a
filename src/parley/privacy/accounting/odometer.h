// What may be shown while a budget is being spent.
//
// A filter (budget.h) promises one number for the whole; a running tally needs a bound that holds
// at every moment at once. On the grid rho_j = rho_max 2^-(j-1) with delta_j = delta / (j (j+1)),
// Ville's inequality gives: the chance that the privacy loss, at any time at which at most rho_j is
// spent, exceeds rho_j + 2 sqrt(rho_j ln(1/delta_j)) is at most delta_j; and sum_j delta_j <=
// delta. So the bound of the largest j with rho_j >= spent may be shown, plus what was spent as
// pure (Whitehouse, Ramdas, Rogers, Wu 2023). The tight conversion of what was spent so far is not
// such a bound and is never shown.
#pragma once

#include "parley/privacy/budget/budget.h"

namespace parley::privacy {

struct Odometer {
  int level;       // j, from 1; 0 if nothing is spent on the zCDP track
  double loss;     // the privacy loss so far is at most this, at all times at once, ...
  double failure;  // ... except with this probability
};

/// What `spent` of `budget` may be shown as.
Odometer odometer(const Spent& spent, const Budget& budget);

}  // namespace parley::privacy
