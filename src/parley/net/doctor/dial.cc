// Names, sockets and proxies.
#include "parley/net/doctor/dial.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace parley::net {
namespace {

using Found = std::unique_ptr<addrinfo, Freed<freeaddrinfo>>;

Error unreachable(const std::string& address, const std::string& what, const std::string& hint) {
  return {Code::kUnavailable, address + " " + what, hint};
}

Result<Found> look_up(const std::string& address) {
  const Address parts = split_address(address);
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(parts.host.c_str(), parts.port.c_str(), &wanted, &found);
  if (failed == 0) return Found(found);
  return unreachable(address, std::string("cannot be resolved: ") + gai_strerror(failed),
                     "Check the host's name and this machine's name server.");
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
  const auto left = end_ - std::chrono::steady_clock::now();
  return static_cast<int>(
      std::max<int64_t>(0, std::chrono::duration_cast<std::chrono::milliseconds>(left).count()));
}

bool wait_for(int descriptor, short events, const Deadline& deadline) {
  pollfd watched{descriptor, events, 0};
  int ready = 0;
  do ready = ::poll(&watched, 1, deadline.left_ms());
  while (ready < 0 && errno == EINTR);
  return ready > 0;
}

Result<std::string> resolve(const std::string& address) {
  const Found found = TRY(look_up(address));
  std::string text;
  char host[NI_MAXHOST];
  for (const addrinfo* each = found.get(); each != nullptr; each = each->ai_next)
    if (getnameinfo(each->ai_addr, each->ai_addrlen, host, sizeof host, nullptr, 0,
                    NI_NUMERICHOST) == 0)
      text += (text.empty() ? "" : ", ") + std::string(host);
  return address + " is " + text;
}

Result<Socket> connect_to(const std::string& address, int deadline_ms) {
  const Found found = TRY(look_up(address));
  const Deadline deadline(deadline_ms);
  for (const addrinfo* each = found.get();; each = each->ai_next) {
    auto socket = connect_once(*each, address, deadline);
    if (socket || each->ai_next == nullptr) return socket;
  }
}

Result<void> connect_through(const Socket& proxy, const std::string& address, int deadline_ms) {
  const Deadline deadline(deadline_ms);
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
  return wrong("refuses: " + charter::in_quotes(line));
}

}  // namespace parley::net
