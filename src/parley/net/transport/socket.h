// Names, sockets and proxies: what a connection needs below TLS. Every step has a deadline and ends
// early when somebody wants to stop.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/result.h"

struct sockaddr_storage;

namespace parley::net {

/// host:port, with brackets around an IPv6 address, in two parts.
struct Address {
  std::string host, port;
};
Address split_address(std::string_view text);

class Socket {
 public:
  explicit Socket(int descriptor = -1) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Socket();
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// How often whoever waits looks whether it should stop.
inline constexpr std::chrono::milliseconds kStopTick{200};

class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds from_now, const std::atomic<bool>* stop = nullptr)
      : end_(std::chrono::steady_clock::now() + from_now), stop_(stop) {}
  explicit Deadline(int milliseconds) : Deadline(std::chrono::milliseconds(milliseconds)) {}
  /// 0 also where somebody wants to stop.
  int left_ms() const;
  const std::atomic<bool>* stop() const { return stop_; }

 private:
  std::chrono::steady_clock::time_point end_;
  const std::atomic<bool>* stop_;
};
/// Until the socket is ready for `events` of poll(2); false at the deadline.
bool wait_for(int descriptor, short events, const Deadline& deadline);

/// Where the name leads: its addresses, in digits.
Result<std::string> resolve(const std::string& address);
/// Tries the addresses of a name in turn. The socket does not block.
Result<Socket> connect_to(const std::string& address, const Deadline& deadline);
/// Asks an HTTP proxy at the other end to connect further.
Result<void> connect_through(const Socket& proxy, const std::string& address,
                             const Deadline& deadline);
/// Straight to the address, or through `proxy` (http://host:port) unless it is empty.
Result<Socket> reach(const std::string& address, const std::string& proxy,
                     const Deadline& deadline);

/// On every address of the name, all at one port; port 0 takes a free one.
struct Listening {
  std::vector<Socket> sockets;
  int port = 0;
};
Result<Listening> listen_at(const std::string& address);

/// Messages leave at once, and a peer that acknowledges nothing for `patience` counts as gone.
void set_options(const Socket& socket, std::chrono::milliseconds patience);

/// In digits: the whole of it for people, and the part by which strangers are counted (of IPv6 the
/// first 48 bits: one customer has as many addresses and networks below as it likes).
struct PeerAddress {
  std::string text, network;
};
PeerAddress peer_address(const sockaddr_storage& peer);

}  // namespace parley::net
