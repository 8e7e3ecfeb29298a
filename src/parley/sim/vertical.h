// Jobs over columns in several places, all parties in one process.
#pragma once

#include "parley/protocol/owner.h"
#include "parley/sim/literal.h"
#include "parley/sim/party.h"
#include "parley/sim/simulate.h"

namespace parley::sim {

/// A process of a simulated owner; its files go to `out`, nowhere if that is empty. Its secret
/// (protocol/vertical/owner.h) follows from the seed unless it is given.
Result<std::unique_ptr<protocol::Owner>> vertical_process(
    Party& party, const charter::Charter& charter, const Hash& records, uint64_t seed, uint64_t run,
    const std::filesystem::path& out, const std::optional<Secret32>& secret = std::nullopt);

/// `parley simulate` of a charter with protocol.name = "sharing"; rule admm by `paper`.
Result<SimulateResult> simulate_vertical(const SimulateInput& input, const SimulateOptions& options,
                                         const Literal* paper);

}  // namespace parley::sim
