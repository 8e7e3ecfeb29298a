// All runs of a simulation under secure aggregation.
#pragma once

#include <string>

#include "parley/base/crypto/signature.h"
#include "parley/sim/outcome.h"

namespace parley::sim {

/// Secure aggregation signs, in a simulation too: with keys that everyone could make.
SigningKey simulated_key(const std::string& owner);

/// The input with those keys in the charter, whose name stays, and, where owners shorten their
/// rows, with rows as short as that, on which fitness is measured.
SimulateInput federated_input(const SimulateInput& input);

/// Without faults. Of an owner the noise is that of the sum that it was charged for.
Result<Outcome> simulate_federated(const SimulateInput& input, const SimulateOptions& options,
                                   const Reference& reference);

}  // namespace parley::sim
