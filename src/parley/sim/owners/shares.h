// What the simulations of several protocols do alike: make an owner, and say what it did.
#pragma once

#include <memory>

#include "parley/sim/outcome.h"
#include "parley/sim/party.h"

namespace parley::sim {

/// An owner of the charter; its ledger and its other files are kept in the first run, if
/// anything is.
Result<std::unique_ptr<Party>> make_party(const SimulateInput& input,
                                          const SimulateOptions& options, size_t owner,
                                          uint64_t run,
                                          const std::optional<Secret32>& secret = std::nullopt);

Result<Outcome::Share> share_of(const charter::Charter& charter, size_t owner, double weight,
                                uint32_t answers, const protocol::JobSpent& spent);

}  // namespace parley::sim
