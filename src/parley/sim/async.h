// All runs of an asynchronous simulation.
#pragma once

#include "parley/learn/schedule/async_descent.h"
#include "parley/sim/outcome.h"

namespace parley::sim {

/// Without faults. Fitness is noted once per N rounds, in which every owner comes once on average,
/// and at the end.
Result<Outcome> simulate_async(const SimulateInput& input, const SimulateOptions& options,
                               const Reference& reference);

/// The rounds after which fitness is noted.
bool is_noted(uint64_t round, const learn::AsyncRule& rule);

}  // namespace parley::sim
