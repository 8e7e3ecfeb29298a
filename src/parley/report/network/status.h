// The status of a daemon, from what it reports and from an owner's ledger.
#pragma once

#include <optional>
#include <string>

#include "parley/base/result.h"
#include "parley/ledger/read.h"

namespace parley::report {

struct DaemonStatus {
  std::string said;                          // JSON, from the daemon's status socket
  std::optional<ledger::Contents> ledger{};  // of an owner
};

/// kFailed if the daemon is of another version and says something else.
Result<std::string> to_text(const DaemonStatus& status);
/// parley.owner.status/1 with `datasets`, or parley.learner.status/1.
Result<std::string> to_json(const DaemonStatus& status);

}  // namespace parley::report
