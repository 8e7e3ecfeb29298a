// An owner's console: what the owner's staff see of their own side, and where they approve, refuse
// or withdraw a charter. It reads policy, charters and ledger anew for every page and asks the
// daemon's status socket, so it works the same inside the daemon, beside it and without it.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>

#include "parley/api/web/serve.h"
#include "parley/charter/policy.h"
#include "parley/net/control/log.h"

namespace parley::api {

/// `parley owner web`. Until `stop` is set. An error at once if the policy cannot be read.
Result<void> owner_console(const std::filesystem::path& policy, const PageOptions& page,
                           const std::atomic<bool>& stop);

/// The console inside the daemon, if the policy asks for one: until it is destroyed. The link lies
/// in the policy's state folder, where only the daemon's user can read it.
class DaemonConsole {
 public:
  static constexpr const char* kLinkFile = "page.link";
  /// `file` is the policy's, `person` whoever can read the link.
  static Result<DaemonConsole> start(const charter::Policy& policy,
                                     const std::filesystem::path& file, const std::string& person,
                                     const net::Log& log);
  DaemonConsole(DaemonConsole&&) noexcept;
  ~DaemonConsole();

 private:
  struct State;
  DaemonConsole();
  std::unique_ptr<State> state_{};
};

}  // namespace parley::api
