// Messages of a daemon to its service manager, such as systemd (sd_notify(3), without its library).
#pragma once

#include <chrono>
#include <string>

namespace parley::net {

/// A datagram for $NOTIFY_SOCKET, if there is one: "READY=1", "STOPPING=1". False if it was not
/// taken.
bool tell_manager(const std::string& words);

/// Tells the manager that we are alive, as often as it wants to hear it ($WATCHDOG_USEC).
class Watchdog {
 public:
  Watchdog();
  /// To be called by the loop that must not hang, as often as it likes.
  void alive();

 private:
  using Steady = std::chrono::steady_clock;
  std::chrono::microseconds every_{0};  // 0: nobody asks
  Steady::time_point last_{};
};

}  // namespace parley::net
