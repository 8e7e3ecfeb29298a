#include "parley/net/transport/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <memory>
#include <thread>

#include "parley/base/printable.h"

namespace parley::net {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* found) const { freeaddrinfo(found); }
};
using Found = std::unique_ptr<addrinfo, FreeAddresses>;

constexpr std::chrono::seconds kConnectTime{5};  // for one address of several

Error unreachable(const std::string& address, const std::string& what, const std::string& hint) {
  return {Code::kUnavailable, address + " " + what, hint};
}

Found ask_resolver(const Address& address, int flags, int& failed) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags;
  addrinfo* found = nullptr;
  failed = getaddrinfo(address.host.c_str(), address.port.c_str(), &wanted, &found);
  return Found(failed == 0 ? found : nullptr);
}

/// The system's resolver cannot be interrupted, so it runs beside us and is left alone if we stop.
Found ask_resolver_until(const Address& address, int& failed, const Deadline& deadline) {
  using Answer = std::pair<Found, int>;
  auto promise = std::make_shared<std::promise<Answer>>();
  auto answer = promise->get_future();
  std::thread([promise, address] {
    int error = 0;
    Found found = ask_resolver(address, 0, error);
    promise->set_value({std::move(found), error});
  }).detach();
  while (answer.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
    if (deadline.left_ms() > 0) continue;
    failed = EAI_AGAIN;
    return nullptr;
  }
  auto [found, error] = answer.get();
  failed = error;
  return std::move(found);
}

Result<Found> look_up(const std::string& address, const Deadline& deadline) {
  const Address parts = split_address(address);
  int failed = 0;
  Found found = ask_resolver(parts, AI_NUMERICHOST, failed);  // Digits need nobody's help.
  if (!found) found = ask_resolver_until(parts, failed, deadline);
  if (found) return found;
  return unreachable(address, std::string("cannot be resolved: ") + gai_strerror(failed),
                     "Check the host's name and this machine's name server.");
}

/// On this machine, a port on which nobody listens may be given to us as our own: then what we
/// reached is ourselves.
bool is_ourselves(const Socket& socket) {
  sockaddr_storage here{}, there{};
  socklen_t size = sizeof here, other = sizeof there;
  return ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&here), &size) == 0 &&
         ::getpeername(socket.get(), reinterpret_cast<sockaddr*>(&there), &other) == 0 &&
         size == other && std::memcmp(&here, &there, size) == 0;
}

Result<Socket> connect_once(const addrinfo& where, const std::string& address,
                            const Deadline& deadline) {
  Socket socket(::socket(where.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  int reason = 0;
  if (socket.get() < 0 ||
      (::connect(socket.get(), where.ai_addr, where.ai_addrlen) != 0 && errno != EINPROGRESS)) {
    reason = errno;
  } else if (!wait_for(socket.get(), POLLOUT, deadline)) {
    reason = ETIMEDOUT;
  } else {
    socklen_t size = sizeof reason;
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &reason, &size);
    if (reason == 0 && is_ourselves(socket)) reason = ECONNREFUSED;
  }
  if (reason == 0) return socket;
  if (reason == ECONNREFUSED)
    return unreachable(address, "refuses connections: nothing listens there",
                       "Is the learner running, and is this its port?");
  if (reason == ETIMEDOUT)
    return unreachable(address, "does not answer",
                       "A firewall may swallow the packets: is this port open on the way?");
  return unreachable(address, std::string("cannot be reached: ") + std::strerror(reason),
                     "Check this machine's network.");
}

/// Binds and listens, at `port` instead of the address's own unless it is 0.
Result<Socket> listen_once(const addrinfo& where, const std::string& address, int port) {
  sockaddr_storage at{};
  std::memcpy(&at, where.ai_addr, where.ai_addrlen);
  if (port != 0 && at.ss_family == AF_INET6)
    reinterpret_cast<sockaddr_in6&>(at).sin6_port = htons(static_cast<uint16_t>(port));
  else if (port != 0)
    reinterpret_cast<sockaddr_in&>(at).sin_port = htons(static_cast<uint16_t>(port));
  Socket socket(::socket(where.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int yes = 1, no = 0;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (where.ai_family == AF_INET6)  // [::] means every interface, of either kind.
    ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  constexpr int kBacklog = 512;
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&at), where.ai_addrlen) == 0 &&
      ::listen(socket.get(), kBacklog) == 0)
    return socket;
  return Error{Code::kFailed, "cannot listen on " + address + ": " + std::strerror(errno),
               "Is the port taken, or the address not this machine's?"};
}

int port_of(const Socket& socket) {
  sockaddr_storage here{};
  socklen_t size = sizeof here;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&here), &size);
  return ntohs(here.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(here).sin6_port
                                          : reinterpret_cast<sockaddr_in&>(here).sin_port);
}

bool has_ipv6() { return Socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)).get() >= 0; }

}  // namespace

Address split_address(std::string_view text) {
  const size_t colon = std::min(text.rfind(':'), text.size());
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {std::string(host), std::string(text.substr(std::min(colon + 1, text.size())))};
}

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

int Deadline::left_ms() const {
  if (stop_ != nullptr && *stop_) return 0;
  const auto left = end_ - std::chrono::steady_clock::now();
  return static_cast<int>(
      std::max<int64_t>(0, std::chrono::duration_cast<std::chrono::milliseconds>(left).count()));
}

bool wait_for(int descriptor, short events, const Deadline& deadline) {
  pollfd watched{descriptor, events, 0};
  for (;;) {
    const int left = deadline.left_ms();
    if (left == 0) return false;  // Also where something comes all the time.
    if (::poll(&watched, 1, std::min(left, int(kStopTick.count()))) > 0) return true;
  }
}

Result<std::string> resolve(const std::string& address) {
  const Found found = TRY(look_up(address, Deadline(std::chrono::seconds(30))));
  std::string text;
  char host[NI_MAXHOST];
  for (const addrinfo* each = found.get(); each != nullptr; each = each->ai_next)
    if (getnameinfo(each->ai_addr, each->ai_addrlen, host, sizeof host, nullptr, 0,
                    NI_NUMERICHOST) == 0)
      text += (text.empty() ? "" : ", ") + std::string(host);
  return address + " is " + text;
}

Result<Socket> connect_to(const std::string& address, const Deadline& deadline) {
  const Found found = TRY(look_up(address, deadline));
  for (const addrinfo* each = found.get();; each = each->ai_next) {
    const bool last = each->ai_next == nullptr;
    const auto time = std::chrono::milliseconds(deadline.left_ms());
    const Deadline turn(last ? time : std::min<std::chrono::milliseconds>(time, kConnectTime),
                        deadline.stop());
    auto socket = connect_once(*each, address, turn);
    if (socket || last) return socket;
  }
}

Result<void> connect_through(const Socket& proxy, const std::string& address,
                             const Deadline& deadline) {
  const std::string ask = "CONNECT " + address + " HTTP/1.1\r\nHost: " + address + "\r\n\r\n";
  const auto size = static_cast<ssize_t>(ask.size());
  const auto wrong = [](const std::string& what) {
    return Error{Code::kUnavailable, "the proxy " + what,
                 "Ask who runs it whether it connects to this host and port."};
  };
  if (::send(proxy.get(), ask.data(), ask.size(), MSG_NOSIGNAL) != size)
    return wrong("takes no request");
  constexpr size_t kAnswerBytesMax = 8192;
  std::string answer;
  while (!answer.ends_with("\r\n\r\n")) {  // Not a byte further: what follows is TLS.
    char byte = 0;
    if (!wait_for(proxy.get(), POLLIN, deadline) || answer.size() > kAnswerBytesMax ||
        ::recv(proxy.get(), &byte, 1, 0) != 1)
      return wrong("does not answer in HTTP");
    answer += byte;
  }
  if (answer.starts_with("HTTP/1.") && answer.substr(8, 4) == " 200") return {};
  const std::string line = answer.substr(0, std::min<size_t>(answer.find('\r'), 80));
  return wrong("refuses: " + in_quotes(line));
}

Result<Socket> reach(const std::string& address, const std::string& proxy,
                     const Deadline& deadline) {
  if (proxy.empty()) return connect_to(address, deadline);
  constexpr std::string_view kScheme = "http://";
  const bool has_scheme = proxy.starts_with(kScheme);
  Socket socket = TRY(connect_to(proxy.substr(has_scheme ? kScheme.size() : 0), deadline));
  TRY(connect_through(socket, address, deadline));
  return socket;
}

Result<Listening> listen_at(const std::string& address) {
  Address parts = split_address(address);
  if (parts.host == "::" && !has_ipv6()) parts.host = "0.0.0.0";
  int failed = 0;
  const Found found = ask_resolver(parts, AI_PASSIVE, failed);
  if (!found)
    return Error{Code::kFailed, "cannot listen on " + address + ": " + gai_strerror(failed),
                 "Give host:port, with brackets around an IPv6 address."};
  Listening listening;
  for (const addrinfo* each = found.get(); each != nullptr; each = each->ai_next) {
    listening.sockets.push_back(TRY(listen_once(*each, address, listening.port)));
    listening.port = port_of(listening.sockets.back());
  }
  return listening;
}

void set_options(const Socket& socket, std::chrono::milliseconds patience) {
  const int yes = 1;
  const auto unacknowledged = static_cast<unsigned>(patience.count());
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged, sizeof unacknowledged);
}

PeerAddress peer_address(const sockaddr_storage& peer) {
  char text[INET6_ADDRSTRLEN] = {};
  if (peer.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(peer);
    inet_ntop(AF_INET, &four.sin_addr, text, sizeof text);
    return {text + (":" + std::to_string(ntohs(four.sin_port))), text};
  }
  const auto& six = reinterpret_cast<const sockaddr_in6&>(peer);
  in6_addr network = six.sin6_addr;
  if (!IN6_IS_ADDR_V4MAPPED(&network)) std::fill(network.s6_addr + 6, network.s6_addr + 16, 0);
  char prefix[INET6_ADDRSTRLEN] = {};
  inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof text);
  inet_ntop(AF_INET6, &network, prefix, sizeof prefix);
  return {"[" + std::string(text) + "]:" + std::to_string(ntohs(six.sin6_port)), prefix};
}

}  // namespace parley::net
