// A connection made step by step with plain sockets and OpenSSL, so that each step can say what is
// wrong with it. Every step has a deadline, except the system's own resolver.
#pragma once

#include <openssl/ssl.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "parley/base/clock.h"
#include "parley/base/result.h"
#include "parley/net/identity/x509.h"

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

class Deadline {
 public:
  explicit Deadline(int milliseconds)
      : end_(std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds)) {}
  int left_ms() const;

 private:
  std::chrono::steady_clock::time_point end_;
};
/// Until the socket is ready for `events` of poll(2); false at the deadline.
bool wait_for(int descriptor, short events, const Deadline& deadline);

/// Where the name leads: its first addresses, in digits.
Result<std::string> resolve(const std::string& address);
Result<Socket> connect_to(const std::string& address, int deadline_ms);
/// Asks an HTTP proxy at the other end to connect further.
Result<void> connect_through(const Socket& proxy, const std::string& address, int deadline_ms);

/// What is known after a handshake, or after as much of it as there was.
struct Handshake {
  bool finished = false;
  std::string trouble{};     // why not, where it was no alert and no certificate
  bool is_tls = true;        // false: what came back was something else
  int verdict = X509_V_OK;   // on the peer's certificate
  Validity dates{};          // of the certificate that the verdict is about
  Certificate peer{};        // what it showed
  std::optional<int> alert;  // the peer's complaint
  bool welcomed = false;     // the peer sent something after it had seen our certificate
  bool http2 = false;
  std::string version{};
};
/// Shakes hands as `papers`, then waits for the first sign that they were accepted.
Handshake shake_hands(const Socket& socket, const std::string& host, const Credentials& credentials,
                      int deadline_ms, Clock& clock);

}  // namespace parley::net
