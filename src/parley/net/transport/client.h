// An owner's connection to a learner or to a neighbour: one stream over mutual TLS, used by one
// thread.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "parley/base/bytes.h"
#include "parley/charter/toml/addresses.h"
#include "parley/net/identity/live_credentials.h"
#include "parley/net/transport/transport.h"
#include "parley/wire/message.h"

namespace parley::net {

/// Where a learner is, and who it must be.
struct Dial {
  charter::Addresses address;
  std::string proxy;  // http://host:port, or empty
  Identity learner;
  /// After so much silence a sign of life is sent, and without one for so much more the peer is
  /// gone.
  std::chrono::milliseconds keepalive = kKeepalive, keepalive_timeout = kKeepaliveTimeout;
  /// A peer that is there, and neither says anything nor reads what we say for so long, is given
  /// up; 0: never.
  std::chrono::milliseconds patience{0};
  /// In bytes. A longer message ends the stream, and no memory is taken for it.
  size_t longest = wire::kMessageBytesMax;
};

class Client {
 public:
  /// Connects to the first address that answers and opens the stream; the peer has accepted our
  /// certificate. A peer whose certificate
  /// does not name `dial.learner` is refused before anything is said (kIntegrity), as is one of
  /// another version or one whose certificate was revoked, also while the stream is open; one
  /// that does not expect us is kPolicy, one that cannot be reached
  /// kUnavailable.
  static Result<Client> open(const LiveCredentials& credentials, const Dial& dial,
                             const std::atomic<bool>& stop, const char* call = kAttend);
  Client(Client&&) noexcept;
  ~Client();

  /// Both wait as long as it takes, or as the dial's patience lasts: signs of life tell whether the
  /// peer is there. When the stream ends, the error is the learner's reason; kUnavailable if there
  /// is none, or if `stop` was set.
  Result<void> write(const Bytes& message);
  Result<Bytes> read();
  /// Nothing, if nothing came by then; what comes later the next reading returns.
  Result<std::optional<Bytes>> read_until(std::chrono::steady_clock::time_point until);
  /// For another thread, while the line is there: a `read_until` that waits, or the next one,
  /// returns with nothing.
  void wake();
  /// The one that answered.
  const std::string& address() const;
  /// Our patience has ended, not the peer or the network.
  bool has_given_up() const;

 private:
  struct State;
  explicit Client(std::unique_ptr<State> state);
  static Result<Client> open_at(const std::string& address, std::chrono::seconds connect_time,
                                const LiveCredentials& credentials, const Dial& dial,
                                const std::atomic<bool>& stop, const char* call);
  std::unique_ptr<State> state_;
};

}  // namespace parley::net
