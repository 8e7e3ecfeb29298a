// `parley owner web`: what an owner's people see of their own side, and the three things that they
// can say: yes, no, and no further. It reads policy, charters and ledger anew for every page, so
// that it may run beside the daemon or without it.
#pragma once

#include <atomic>
#include <filesystem>

#include "parley/api/web/serve.h"

namespace parley::api {

/// Until `stop` is set. An error at once if the policy cannot be read.
Result<void> owner_console(const std::filesystem::path& policy, const PageOptions& page,
                           const std::atomic<bool>& stop);

}  // namespace parley::api
