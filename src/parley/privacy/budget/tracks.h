// The rule for charges of different kinds, for a list of events: each goes on exactly one track, as
// in a ledger (budget.h).
//
//   Gaussian          rho += 1 / (2 multiplier^2); of shares e^2/2, and Skellam, as in shares.h
//   pure eps          E += eps, or rho += eps tanh(eps/2); which, is fixed before the first charge
//   (eps, delta)      as pure eps, and x += delta
//   sampled           rho += eps tanh(eps/2) and x += delta, of one answer (sampled_step.h)
//
// Then Renyi divergences are at most E + rho alpha on every path, and with x <= delta everything
// together is (E + eps_zCDP(rho, delta - x), delta)-DP.
#pragma once

#include "parley/privacy/accounting/event.h"
#include "parley/privacy/budget/budget.h"

namespace parley::privacy {

/// What the events spend, with pure charges on the given track; sums are rounded up. An error for
/// sampled releases that no ledger took at a delta of their own: they have no zCDP.
Result<Spent> spent_on(const Events& events, Track pure,
                       Adjacency adjacency = Adjacency::kReplaceOne);

/// What Gaussian noise of (epsilon, delta) is at the delta `other`, rounded up. Of a delta of 0,
/// which is no such noise, epsilon itself; infinite where `other` is 0 and delta is not.
double epsilon_at(double epsilon, double delta, double other);

/// The epsilon of what was spent; an error if its own delta is not below delta.
Result<double> tracks_epsilon(const Spent& spent, Delta delta);

}  // namespace parley::privacy
