// The server of a learner, or of an owner with neighbours: a TLS server that hands the events of
// all its streams to one thread. A peer without a certificate of the consortium's authority, with
// an expected name, gets no further than the handshake. Strangers, however many, take a bounded
// number of descriptors, a bounded time and a bounded part of the thread.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/net/identity/live_credentials.h"
#include "parley/net/transport/transport.h"

namespace parley::net {

enum class ConnectionId : uint64_t {};

struct Arrived {
  ConnectionId connection;
  Identity identity;
  std::string address;  // as the transport sees it
};
struct Said {
  ConnectionId connection;
  Bytes message;
};
struct Left {
  ConnectionId connection;
};
struct Nothing {};  // within the time given
using Event = std::variant<Nothing, Arrived, Said, Left>;

/// Where a server listens, and to whom.
struct Door {
  std::string address{};  // host:port; port 0 takes a free one
  /// In bytes. A longer message is not passed on, and no memory is taken for it: the log says so,
  /// and its guest leaves.
  size_t longest = 0;
  /// Nobody else is let in. Empty, where the caller cannot know them: every owner of the
  /// consortium.
  std::vector<Identity> expected{};
  const char* call = kAttend;
  /// From the connection to the name of the call; whoever takes longer is a stranger.
  std::chrono::milliseconds handshake{10'000};
  std::chrono::milliseconds keepalive = kKeepalive, keepalive_timeout = kKeepaliveTimeout;
};

class Server {
 public:
  /// When credentials are replaced, guests whose certificate is revoked by them are dismissed.
  static Result<std::unique_ptr<Server>> listen(const Door& door, LiveCredentials credentials,
                                                Log log);
  /// Says the last words that are still to be said, for a second at most.
  ~Server();

  int port() const;
  Event next(std::chrono::milliseconds patience);
  /// For any thread: `next`, if it waits, or the next one, returns with Nothing.
  void wake();

  /// All three do nothing for a guest that has left. A guest may say one thing when it arrives, one
  /// each time it has been sent something, and one when somebody wants to hear on; what it sends
  /// beyond that stays unread.
  void send(ConnectionId connection, Bytes message);
  void hear_on(ConnectionId connection);
  /// Ends the stream, after what was sent before. The guest reads the reason; no Left follows.
  void dismiss(ConnectionId connection, const Error& reason);
  /// The same for a stranger, and the log says so, as often as it says such things.
  void turn_away(ConnectionId connection, const std::string& who, const Error& reason);

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace parley::net
