#include "parley/owner.h"

#include <optional>
#include <utility>

#include "parley/api/daemons.h"
#include "parley/api/internal.h"
#include "parley/api/owner_web/console.h"
#include "parley/base/entropy.h"
#include "parley/net/decisions.h"
#include "parley/net/owner_service.h"

namespace parley {

Result<std::vector<OwnerJob>> api::run_owner(const Policy& handle, const OwnerOptions& options,
                                             const Daemon& daemon,
                                             const std::filesystem::path& file) {
  const charter::Policy& policy = handle.internal().policy;
  SystemClock clock;
  SystemEntropy entropy;
  const net::Log log = log_of(daemon, options.log);
  std::optional<DaemonConsole> console;
  const auto open_console = [&]() -> Result<void> {
    console.emplace(TRY(DaemonConsole::start(policy, file, daemon.person, log)));
    return {};
  };
  const net::ServiceOptions service{.charters = options.charters,
                                    .dial = options.dial,
                                    .listen = options.listen,
                                    .learner = options.learner,
                                    .patience = {.absent = options.wait},
                                    .policy_file = file,
                                    .reload = daemon.reload,
                                    .opened = open_console,
                                    .ready = daemon.ready,
                                    .alive = daemon.alive};
  return net::serve(policy, service, entropy, clock, daemon.stop, log);
}

Result<std::vector<OwnerJob>> run_owner(const Policy& policy, const OwnerOptions& options) {
  const api::StopFlag stop(options.stop);
  return api::run_owner(policy, options, {.stop = stop.flag()});
}

Result<void> approve(const Policy& handle, const Charter& charter_handle, const std::string& by,
                     const std::string& reason) {
  SystemClock clock;
  return net::leave_word(handle.internal().policy, charter_handle.internal().charter,
                         {.by = by, .at = clock.now(), .reason = reason});
}

}  // namespace parley
