#include "parley/net/web/listen.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <utility>

namespace parley::net {
namespace {

constexpr std::string_view kUnix = "unix:";

bool is_loopback(const Socket& socket) {
  sockaddr_storage here{};
  socklen_t size = sizeof here;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&here), &size) != 0) return false;
  if (here.ss_family == AF_INET)
    return ntohl(reinterpret_cast<sockaddr_in&>(here).sin_addr.s_addr) >> 24 == 127;
  return here.ss_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<sockaddr_in6&>(here).sin6_addr);
}

Error cannot_listen(const std::string& path, const std::string& what, const std::string& hint) {
  return {Code::kFailed, "cannot listen on " + path + ": " + what, hint};
}

/// A socket that a process left when it was killed takes no connections and is replaced.
bool is_left_over(const sockaddr_un& where) {
  struct stat found{};
  if (::lstat(where.sun_path, &found) != 0 || !S_ISSOCK(found.st_mode)) return false;
  const Socket probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0 &&
         errno == ECONNREFUSED;
}

Result<PageSocket> listen_on_path(const std::string& path) {
  sockaddr_un where{};
  where.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof where.sun_path)
    return cannot_listen(path, "a socket's path has 1 to 107 bytes", "Choose a shorter one.");
  std::memcpy(where.sun_path, path.data(), path.size());
  if (is_left_over(where)) ::unlink(where.sun_path);
  Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  // Before it listens nobody can connect, so that there is no moment with other rights.
  constexpr int kBacklog = 128;
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&where), sizeof where) != 0)
    return cannot_listen(path, std::strerror(errno),
                         "Is the folder there and writable, and is no other page running?");
  if (::chmod(where.sun_path, 0660) != 0 || ::listen(socket.get(), kBacklog) != 0)
    return cannot_listen(path, std::strerror(errno), "Choose a folder on a local disk.");
  return PageSocket{std::move(socket), "http://localhost", path};
}

/// Without its port, in lower case.
std::string name_in(std::string_view host) {
  const size_t bracket = host.rfind(']'), colon = host.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket))
    host = host.substr(0, colon);
  std::string name(host);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

std::string in_url(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

}  // namespace

Result<PageSocket> listen_for_pages(const std::string& listen,
                                    const std::vector<std::string>& hosts) {
  if (listen.starts_with(kUnix)) return listen_on_path(listen.substr(kUnix.size()));
  Listening listening = TRY(listen_at(listen));
  Socket& socket = listening.sockets.front();
  const bool here = is_loopback(socket);
  if (!here && hosts.empty())
    return Error{Code::kInvalid, listen + " can be reached from other machines, without encryption",
                 "Listen on 127.0.0.1 or on unix:PATH behind a proxy with TLS; or say with --host "
                 "under which name browsers come."};
  const std::string host = here ? in_url(split_address(listen).host) : hosts.front();
  return PageSocket{std::move(socket), "http://" + host + ":" + std::to_string(listening.port)};
}

bool host_allowed(std::string_view header, const std::vector<std::string>& hosts) {
  const std::string name = name_in(header);
  const bool digits =
      name.starts_with("127.") && name.find_first_not_of("0123456789.") == std::string::npos;
  if (digits || name == "localhost" || name == "[::1]") return true;
  return std::any_of(hosts.begin(), hosts.end(),
                     [&](const std::string& host) { return name_in(host) == name; });
}

}  // namespace parley::net
