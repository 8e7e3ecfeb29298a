// Basic and advanced composition, for comparison: both hold, neither is tight.
//
// Basic: epsilons and deltas add up (Dwork et al. 2006). Advanced: for delta' > 0,
//   eps = sqrt(2 ln(1/delta') sum eps_i^2) + sum eps_i (e^eps_i - 1)
// (Dwork, Rothblum, Vadhan 2010; Kairouz, Oh, Viswanath 2015 for unequal charges). It exceeds the
// plain sum when charges are large, hence the minimum with basic.
#pragma once

#include "parley/privacy/accounting/event.h"
#include "parley/privacy/units.h"

namespace parley::privacy {

/// What an event is known to be as (epsilon, delta)-DP without choosing a delta. An error for
/// Gaussian noise, which has no such pair.
Result<ApproximateEvent> as_approximate(const Event& event);

Result<double> basic_epsilon(const Events& events, Delta delta);
Result<double> advanced_epsilon(const Events& events, Delta delta);
/// The formula as published, without that minimum.
Result<double> advanced_formula(const Events& events, Delta delta);

}  // namespace parley::privacy
