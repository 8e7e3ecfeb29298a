// What one answer over sampled records costs a ledger, which books no divergences that grow faster
// than in proportion to their order, as those of sampled noise do.
//
// Let every record be in the sum with probability q. Gaussian noise, discrete or not, for a record
// of norm C is C^2/(2 s2)-zCDP under add/remove, hence (eps, delta)-DP for the delta given.
// Sampling makes that (eps_1, delta_1) = (ln(1 + q (e^eps - 1)), q delta) (Li, Qardaji, Su 2012;
// Balle, Barthe, Gaboardi 2018, Theorem 8). Replacing a record is taking one away and adding
// another: two steps, (2 eps_1, (1 + e^eps_1) delta_1).
#pragma once

#include "parley/privacy/accounting/event.h"

namespace parley::privacy {

/// Rounded up. The event has a delta above 0; its multiplier refers to the sensitivity, which under
/// replace-one is twice the norm of a record.
ApproximateEvent sampled_step(const SampledGaussianEvent& event, Adjacency adjacency);

}  // namespace parley::privacy
