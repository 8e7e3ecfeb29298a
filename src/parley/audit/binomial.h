// Exact limits of a probability from counts.
#pragma once

#include <cstdint>

namespace parley::audit {

/// P[Binomial(trials, p) >= successes].
double binomial_at_least(uint64_t successes, uint64_t trials, double p);

/// Clopper-Pearson: the probability of a success is at least (at most) this, wrongly with
/// probability at most `alpha`.
double binomial_lower(uint64_t successes, uint64_t trials, double alpha);
double binomial_upper(uint64_t successes, uint64_t trials, double alpha);

}  // namespace parley::audit
