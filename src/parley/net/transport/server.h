// A learner's door, or that of an owner with neighbours: a gRPC server over mutual TLS whose
// streams are events for one thread. Whoever cannot show a certificate of the consortium's
// authority gets no further than the handshake.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <variant>

#include "parley/base/bytes.h"
#include "parley/net/identity/identity.h"
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

class Server {
 public:
  /// Listens on host:port; port 0 takes a free one. A message of more than `longest` bytes is not
  /// passed on: the log says so, and its guest leaves.
  static Result<std::unique_ptr<Server>> listen(const std::string& address,
                                                const Credentials& credentials, size_t longest,
                                                Log log, const char* call = kAttend);
  ~Server();

  int port() const;
  Event next(std::chrono::milliseconds patience);
  /// For any thread: `next`, if it waits, or the next one, returns with Nothing.
  void wake();

  /// All three do nothing for a guest that has left. A guest may say one thing when it arrives, one
  /// each time it has been sent something, and one when somebody wants to hear on; what it sends
  /// beyond that stays unread. (Reading ahead would also tell it at once, in a packet of its own,
  /// that there is room for more.)
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
