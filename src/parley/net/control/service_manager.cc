#include "parley/net/control/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "parley/base/math/number.h"

namespace parley::net {

bool tell_manager(const std::string& words) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  const size_t size = path == nullptr ? 0 : std::strlen(path);
  if (size == 0 || size >= sizeof address.sun_path) return false;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path, size);
  if (path[0] == '@') address.sun_path[0] = '\0';  // Linux's own names, without a file.
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size);
  const ssize_t sent = ::sendto(socket, words.data(), words.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                                reinterpret_cast<const sockaddr*>(&address), length);
  ::close(socket);
  return sent == static_cast<ssize_t>(words.size());
}

Watchdog::Watchdog() {
  const char* every = std::getenv("WATCHDOG_USEC");
  const char* whose = std::getenv("WATCHDOG_PID");
  if (every == nullptr || (whose != nullptr && whose != std::to_string(::getpid()))) return;
  const auto number = parse_number(every);
  if (number && *number >= 1) every_ = std::chrono::microseconds(static_cast<int64_t>(*number));
}

void Watchdog::alive() {
  const auto now = Steady::now();
  if (every_.count() == 0 || now - last_ < every_ / 4) return;
  last_ = now;
  tell_manager("WATCHDOG=1");
}

}  // namespace parley::net
