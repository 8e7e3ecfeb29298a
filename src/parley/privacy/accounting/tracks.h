// The rule for charges of different kinds, for a list of events: each goes on exactly one track, as
// in a ledger (budget.h).
//
//   Gaussian          rho += 1 / (2 multiplier^2)
//   pure eps          E += eps, or rho += eps tanh(eps/2); which, is fixed before the first charge
//   (eps, delta)      as pure eps, and x += delta
//
// Then Renyi divergences are at most E + rho alpha on every path, and with x <= delta everything
// together is (E + eps_zCDP(rho, delta - x), delta)-DP.
#pragma once

#include "parley/privacy/accounting/budget.h"
#include "parley/privacy/accounting/event.h"

namespace parley::privacy {

/// What the events spend, with pure charges on the given track; sums are rounded up. An error for
/// sampled releases, which have no zCDP.
Result<Spent> spent_on(const Events& events, Track pure);

/// The epsilon of what was spent; an error if its own delta is not below delta.
Result<double> tracks_epsilon(const Spent& spent, Delta delta);

}  // namespace parley::privacy
