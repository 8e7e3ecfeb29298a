// The daemons behind run_owner and run_learner, stopped by a flag that a signal handler may set,
// and told of by their status socket (net/control/status_socket.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "parley/learner.h"
#include "parley/net/control/log.h"
#include "parley/owner.h"

namespace parley::api {

/// What whoever runs a daemon tells it, and hears of it.
struct Daemon {
  const std::atomic<bool>& stop;
  const std::atomic<uint32_t>* reload = nullptr;  // counts requests to read files again
  net::Log log{};                                 // instead of the options'
  std::function<void()> ready = [] {};            // once, when it can be asked
  std::function<void()> alive = [] {};            // again and again, by the loop that must not hang
  std::string person{};                           // whoever can read the link to an owner's console
  std::string metrics{};  // of a learner: where, host:port or unix:PATH; an owner's policy says it
};

/// The daemon's log, or the options', or nobody's.
inline net::Log log_of(const Daemon& daemon, const OnLog& options) {
  if (daemon.log) return daemon.log;
  return options ? net::Log(options) : net::Log([](const net::LogLine&) {});
}

/// `file` is that of the policy, if it can be read again.
Result<std::vector<OwnerJob>> run_owner(const Policy& policy, const OwnerOptions& options,
                                        const Daemon& daemon,
                                        const std::filesystem::path& file = {});
Result<LearnerResult> run_learner(const Charter& charter, const LearnerOptions& options,
                                  const Daemon& daemon);

}  // namespace parley::api
