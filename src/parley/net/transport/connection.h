// One connection at a server: its state, and its buffers for reading and writing.
#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <span>

#include "parley/net/transport/frame.h"
#include "parley/net/transport/server.h"
#include "parley/net/transport/socket.h"
#include "parley/net/transport/tls.h"

namespace parley::net {

/// epoll(7), as far as it is needed here. What is watched is known by a number.
class Poller {
 public:
  Poller() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}
  int get() const { return epoll_.get(); }

  bool add(int descriptor, uint64_t number, uint32_t events) const {
    return change(EPOLL_CTL_ADD, descriptor, number, events);
  }
  void modify(int descriptor, uint64_t number, uint32_t events) const {
    change(EPOLL_CTL_MOD, descriptor, number, events);
  }
  void remove(int descriptor) const { change(EPOLL_CTL_DEL, descriptor, 0, 0); }

  /// What has happened to some of them, within the time; -1 is for ever.
  std::span<epoll_event> wait(std::span<epoll_event> room, int milliseconds) const {
    const int count =
        ::epoll_wait(epoll_.get(), room.data(), static_cast<int>(room.size()), milliseconds);
    return room.first(count > 0 ? static_cast<size_t>(count) : 0);
  }

 private:
  bool change(int operation, int descriptor, uint64_t number, uint32_t events) const {
    epoll_event event{};
    event.events = events;
    event.data.u64 = number;
    return ::epoll_ctl(epoll_.get(), operation, descriptor, &event) == 0;
  }
  Socket epoll_;
};

class Connection {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  enum class Stage {
    kHandshake,  // nobody knows who it is
    kOpening,    // it is somebody expected, and has not said what it wants
    kGuest,
    kEnding,     // what is left is written, the reason last
    kLingering,  // it was told; what it still sends is thrown away until it hangs up
  };

  Connection(ConnectionId id, Socket socket, PeerAddress address,
             std::shared_ptr<const TlsContext> tls, size_t longest)
      : id(id),
        address(std::move(address)),
        context(std::move(tls)),
        socket(std::move(socket)),
        session(*context, this->socket.get()),
        reader_(longest) {}

  /// Who it is, for a log.
  std::string who() const;
  bool is_stranger() const { return stage != Stage::kGuest && stage != Stage::kEnding; }

  enum class Reading { kFrame, kWaits, kMore, kHeld, kOver };
  /// The next frame, if it is whole; kMore, if it came in so many pieces that others shall be
  /// served first. A message that nobody wants is held: it stays unread, with all that follows. An
  /// error, if there is no such frame.
  Result<Reading> read(std::optional<Frame>& frame);
  bool holds_message() const { return reader_.holds_message(); }
  /// At most one at a time is in our memory.
  bool is_wanted() const { return credit > 0 && !waiting; }

  void queue(Bytes frame);
  bool is_full() const;
  enum class Writing { kDone, kWaits, kOver };
  /// Writes what is queued, as far as the peer takes it.
  Writing write_on();
  bool has_written() const { return outbox_.empty(); }

  /// Nothing follows; from now on what comes is thrown away.
  void hang_up();
  /// False when the peer has hung up too, or sends without end.
  bool throw_away();

  /// From now on it is watched here, for this.
  void watch(const Poller& poller, uint32_t events);

  const ConnectionId id;
  const PeerAddress address;
  const std::shared_ptr<const TlsContext> context;  // of the time when it came
  Socket socket;
  TlsSession session;
  Stage stage = Stage::kHandshake;
  Moment deadline{};     // of the stage, except of a guest
  Moment said{};         // when we last wrote
  size_t credit = 0;     // so many messages it may still send
  bool waiting = false;  // one of them waits to be taken

 private:
  FrameReader reader_;
  std::deque<Bytes> outbox_{};
  size_t outbox_bytes_ = 0, written_ = 0;  // of the first
  size_t thrown_away_ = 0;
  const Poller* poller_ = nullptr;
  uint32_t events_ = 0;
};

}  // namespace parley::net
