// A preflight check of a charter: every check that open_owner makes, without the ledger's lock,
// without a charge and without a connection. It works while the daemon runs.
#pragma once

#include <optional>

#include "parley/charter/explain_policy.h"
#include "parley/ledger/read.h"
#include "parley/net/owner_service.h"

namespace parley::net {

/// What the policy's ledger holds; nothing before its first job. A ledger of another owner or one
/// that was changed is an error.
Result<std::optional<ledger::Contents>> look_into_ledger(const charter::Policy& policy,
                                                         const ledger::RowFilter& filter = {});

struct PreflightOptions {
  std::string dial{};     // as in ServiceOptions
  bool read_data = true;  // to its end, which may take long
};

/// Everything that stands in the way, not only the first.
charter::Preflight preflight_of(const charter::Policy& policy, charter::Charter charter,
                                const std::optional<ledger::Contents>& ledger,
                                const PreflightOptions& options, Clock& clock);

}  // namespace parley::net
