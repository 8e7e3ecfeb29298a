// Jobs over columns in several places, all parties in one process.
#pragma once

#include "parley/protocol/owner.h"
#include "parley/sim/party.h"
#include "parley/sim/simulate.h"

namespace parley::sim {

/// A process of a simulated owner; its files go to `out`, nowhere if that is empty.
Result<std::unique_ptr<protocol::Owner>> sharing_process(Party& party,
                                                         const charter::Charter& charter,
                                                         const Hash& records, uint64_t seed,
                                                         uint64_t run,
                                                         const std::filesystem::path& out);

/// Rule statistics (V-C): the joint release is the one of a single owner of all columns, at the
/// strictest budget. This is that job, paid by owner `payer`.
Result<SimulateInput> joint_statistics(const SimulateInput& input, size_t payer);

/// `parley simulate` of a charter with protocol.name = "sharing".
Result<SimulateResult> simulate_sharing(const SimulateInput& input, const SimulateOptions& options);

}  // namespace parley::sim
