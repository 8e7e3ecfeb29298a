#include "parley/net/transport/server.h"

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <map>
#include <utility>

#include "parley/base/printable.h"
#include "parley/net/transport/connection.h"
#include "parley/net/transport/sparse_log.h"
#include "parley/net/transport/spin_wait.h"

namespace parley::net {
namespace {

using Moment = Connection::Moment;
using Stage = Connection::Stage;
using namespace std::chrono_literals;

constexpr size_t kStrangersMax = 256;  // connections that are no guests
constexpr size_t kStrangersPerNetwork = 128;
constexpr size_t kStrangersFew = 8;        // So many owners behind one address are no crowd.
constexpr size_t kStreamsPerIdentity = 8;  // One is used; others may still be told to go.
constexpr size_t kGuestsMax = 4096;
constexpr size_t kCreditMax = 1000;  // messages that a guest may send in a row
constexpr size_t kHandshakeBytesMax = 64 << 10;
constexpr int kAcceptsAtOnce = 16;
constexpr int kFramesAtOnce = 64;
constexpr auto kSweep = 100ms, kAcceptPause = 100ms;
constexpr auto kEndTime = 5s, kLingerTime = 2s, kLastWordsTime = 1s;
/// While there are guests, strangers get a quarter of the thread's time.
constexpr int kPausePerTurn = 3;

constexpr uint64_t kWakerNumber = ~uint64_t{0}, kDoorNumber = kWakerNumber - 1,
                   kListenerNumber = kWakerNumber - 2;

Moment time_now() { return std::chrono::steady_clock::now(); }

/// A part of the descriptors that this process may have: others are for files.
size_t part_of_descriptors(size_t part, size_t most) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return most;
  return std::clamp<size_t>(limit.rlim_cur / part, 8, most);
}

ConnectionId connection_in(const Event& event) {
  if (const auto* arrived = std::get_if<Arrived>(&event)) return arrived->connection;
  if (const auto* said = std::get_if<Said>(&event)) return said->connection;
  if (const auto* left = std::get_if<Left>(&event)) return left->connection;
  return ConnectionId{0};
}

}  // namespace

struct Server::State {
  State(const Door& door, LiveCredentials credentials, Log log_lines)
      : door(door), lines(std::move(log_lines)), live(std::move(credentials)) {
    take_credentials();
  }

  const Door door;
  SparseLog lines;
  const LiveCredentials live;
  std::shared_ptr<const Credentials> credentials{};  // of them, those in use
  std::shared_ptr<const TlsContext> context{};       // for whoever comes
  Listening listening{};
  /// Guests and the waker; and, as one of them, all that the other poller watches.
  Poller guests_poller{}, strangers_poller{};
  Socket waker{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  SpinWait spin_wait{};
  const size_t strangers_max = part_of_descriptors(4, kStrangersMax);
  const size_t guests_max = part_of_descriptors(2, kGuestsMax);
  uint64_t connections_so_far = 0;
  std::map<ConnectionId, std::unique_ptr<Connection>> connections{};  // the oldest first
  size_t guests = 0;
  std::deque<Event> events{};
  std::vector<ConnectionId> again{};  // There may be something to read that no poller tells of.
  bool woken = false;
  std::optional<Moment> door_opens{}, accept_again{};  // once they are closed
  Moment next_sweep{};

  epoll_event room[64] = {};
  std::span<epoll_event> ready{};

  Result<void> open() {
    listening = TRY(listen_at(door.address));
    bool watched = guests_poller.add(waker.get(), kWakerNumber, EPOLLIN) &&
                   guests_poller.add(strangers_poller.get(), kDoorNumber, EPOLLIN);
    for (const Socket& socket : listening.sockets)
      watched = watched && strangers_poller.add(socket.get(), kListenerNumber, EPOLLIN);
    if (watched) return {};
    return Error{Code::kFailed, "cannot listen on " + door.address + ": no descriptors are left",
                 "Raise the limit of open files (ulimit -n)."};
  }

  Connection* find(ConnectionId id) {
    const auto found = connections.find(id);
    return found == connections.end() ? nullptr : found->second.get();
  }
  Connection* find_guest(ConnectionId id) {
    Connection* found = find(id);
    return found != nullptr && found->stage == Stage::kGuest ? found : nullptr;
  }

  void close(Connection& connection) {
    if (!connection.is_stranger()) --guests;
    const ConnectionId id = connection.id;
    connections.erase(id);
  }

  /// A guest is gone, without having been told to go.
  void leave(Connection& guest) {
    events.push_back(Left{guest.id});
    close(guest);
  }

  void lose(Connection& guest) {
    if (guest.session.sends_without_end()) note_refusal(guest.who(), guest.session.trouble());
    leave(guest);
  }

  void linger(Connection& connection) {
    if (!connection.is_stranger()) --guests;
    connection.hang_up();
    connection.deadline = time_now() + kLingerTime;
    connection.watch(strangers_poller, EPOLLIN);
  }

  void write_on(Connection& connection) {
    const Poller& poller = connection.is_stranger() ? strangers_poller : guests_poller;
    const bool ends = connection.stage == Stage::kEnding;
    switch (connection.write_on()) {
      case Connection::Writing::kOver:
        return connection.stage == Stage::kGuest ? leave(connection) : close(connection);
      case Connection::Writing::kWaits:
        return connection.watch(poller, ends ? EPOLLOUT : EPOLLIN | EPOLLOUT);
      case Connection::Writing::kDone:
        return ends ? linger(connection) : connection.watch(poller, EPOLLIN);
    }
  }

  /// After what is queued, the reason. What the guest has said and nobody has taken is forgotten.
  void end(Connection& connection, const Error& reason) {
    std::erase_if(events,
                  [&](const Event& event) { return connection_in(event) == connection.id; });
    if (connection.is_stranger()) ++guests;
    connection.stage = Stage::kEnding;
    connection.deadline = time_now() + kEndTime;
    connection.queue(to_frame(FrameKind::kEnd, encode_end(reason)));
    write_on(connection);
  }

  void note_refusal(const std::string& who, const std::string& reason) {
    lines.say(reason, {log::kRefused, "refused " + who + ": " + reason});
  }

  void refuse(Connection& connection, const std::string& who, const Error& reason) {
    note_refusal(who, reason.what);
    end(connection, reason);
  }

  // Strangers.

  void accept_some() {
    for (const Socket& socket : listening.sockets)
      for (int i = 0; i < kAcceptsAtOnce && accept_one(socket); ++i) {
      }
  }

  bool accept_one(const Socket& listener) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    Socket socket(::accept4(listener.get(), reinterpret_cast<sockaddr*>(&peer), &size,
                            SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.get() >= 0) return admit(std::move(socket), peer_address(peer)), true;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
      return pause_accepting(), false;
    return errno != EAGAIN;
  }

  /// Whoever waits at the listener keeps it ready, and would keep us busy.
  void pause_accepting() {
    note_refusal("whoever comes now",
                 "this process has no descriptors left (ulimit -n); it tries again");
    for (int i = 0; i < kAcceptsAtOnce; ++i) evict_one([](const Connection&) { return true; });
    watch_listeners(0);
    accept_again = time_now() + kAcceptPause;
  }

  void watch_listeners(uint32_t what) {
    for (const Socket& socket : listening.sockets)
      strangers_poller.modify(socket.get(), kListenerNumber, what);
  }

  void admit(Socket socket, PeerAddress address) {
    make_room(address.network);
    set_options(socket, door.keepalive_timeout);
    const ConnectionId id{++connections_so_far};
    auto made = std::make_unique<Connection>(id, std::move(socket), std::move(address), context,
                                             door.longest);
    made->deadline = time_now() + door.handshake;
    made->watch(strangers_poller, EPOLLIN);
    connections.emplace(id, std::move(made));
  }

  /// Nobody who comes is kept out by those who only wait: the oldest goes of the networks that have
  /// most of them. Where none has many, as where each comes from another, the oldest of all.
  void make_room(const std::string& network) {
    std::map<std::string, size_t> counts;
    size_t all = 0, most = 0;
    for (const auto& [id, each] : connections)
      if (each->is_stranger()) most = std::max(most, ++counts[each->address.network]), ++all;
    if (counts[network] >= kStrangersPerNetwork)
      return evict_one([&](const Connection& each) { return each.address.network == network; });
    if (all < strangers_max) return;
    evict_one([&](const Connection& each) {
      return most <= kStrangersFew || counts[each.address.network] == most;
    });
  }

  template <class Which>
  void evict_one(Which which) {
    for (const auto& [id, each] : connections) {
      if (!each->is_stranger() || !which(*each)) continue;
      if (each->stage != Stage::kLingering)
        note_refusal(each->who(), "too many came at once, and it was not the newest");
      return close(*each);
    }
  }

  void advance(Connection& stranger) {
    if (stranger.stage == Stage::kHandshake)
      shake_hands(stranger);
    else if (stranger.stage == Stage::kOpening)
      hear_call(stranger);
    else if (!stranger.throw_away())
      close(stranger);
  }

  void shake_hands(Connection& stranger) {
    switch (stranger.session.shake_hands()) {
      case TlsSession::Step::kOver:
        return break_off(stranger, stranger.session.trouble());
      case TlsSession::Step::kWantsWrite:
        return stranger.watch(strangers_poller, EPOLLOUT);
      case TlsSession::Step::kWantsRead:
        if (stranger.session.received() > kHandshakeBytesMax)
          return break_off(stranger, "it sends without end");
        return stranger.watch(strangers_poller, EPOLLIN);
      case TlsSession::Step::kDone:
        break;
    }
    if (is_revoked(stranger)) return break_off(stranger, "its certificate was revoked");
    if (!stranger.session.speaks_ours())
      return break_off(stranger, "it does not offer \"" + std::string(kProtocol) + "\"");
    stranger.stage = Stage::kOpening;
    stranger.queue(to_frame(FrameKind::kReady));
    const ConnectionId id = stranger.id;
    write_on(stranger);
    if (find(id) != nullptr) hear_call(stranger);
  }

  /// OpenSSL has told it why, in an alert, which it may read if we do not cut it off.
  void break_off(Connection& stranger, std::string trouble) {
    if (stranger.session.received() == 0) return close(stranger);  // It only looked.
    if (trouble.empty()) trouble = "it hung up during the handshake";
    note_refusal(stranger.who(), trouble);
    linger(stranger);
  }

  void hear_call(Connection& stranger) {
    if (!stranger.has_written()) return write_on(stranger);
    std::optional<Frame> frame;
    const auto reading = stranger.read(frame);
    if (!reading) return refuse(stranger, stranger.who(), reading.error());
    if (*reading == Connection::Reading::kOver)
      return break_off(stranger, stranger.session.trouble());
    if (*reading != Connection::Reading::kFrame) return;
    const bool opens = frame && frame->kind == FrameKind::kOpen;
    const std::string call(opens ? std::string(frame->payload.begin(), frame->payload.end()) : "");
    if (call != door.call)
      return refuse(
          stranger, stranger.who(),
          {Code::kInvalid, "there is no call " + in_quotes(call) + " here, only " + door.call,
           "Is this the address of the job's learner, or of a neighbour?"});
    if (has_room_for(*stranger.session.peer())) return become_guest(stranger);
    refuse(stranger, stranger.who(), {Code::kUnavailable, "too many are here"});
  }

  void become_guest(Connection& stranger) {
    stranger.stage = Stage::kGuest;
    stranger.credit = 1;
    ++guests;
    stranger.watch(guests_poller, EPOLLIN);
    events.push_back(Arrived{stranger.id, *stranger.session.peer(), stranger.address.text});
    again.push_back(stranger.id);  // TLS may have more of it.
  }

  /// Of the same party's streams, one that was told to go makes room, or else the newest: whoever
  /// comes often must not drive out the one that is at work.
  bool has_room_for(const Identity& identity) {
    const auto is_same = [&](const auto& each) {
      return !each.second->is_stranger() && each.second->session.peer() == identity;
    };
    const auto same =
        static_cast<size_t>(std::count_if(connections.begin(), connections.end(), is_same));
    if (same < kStreamsPerIdentity && guests < guests_max) return true;
    Connection* goes = nullptr;
    for (const auto& each : connections) {
      if (!is_same(each)) continue;
      goes = each.second.get();
      if (goes->stage == Stage::kEnding) break;
    }
    if (goes != nullptr) goes->stage == Stage::kGuest ? leave(*goes) : close(*goes);
    return goes != nullptr;
  }

  void strangers_turn() {
    const Moment began = time_now();
    epoll_event some[8];  // A handshake takes half a millisecond.
    bool comes = false;
    for (const epoll_event& event : strangers_poller.wait(some, 0)) {
      if (event.data.u64 == kListenerNumber)
        comes = true;
      else if (Connection* stranger = find(ConnectionId{event.data.u64}))
        advance(*stranger);
    }
    if (comes) accept_some();
    if (guests == 0) return;
    door_opens = time_now() + kPausePerTurn * (time_now() - began);
    guests_poller.modify(strangers_poller.get(), kDoorNumber, 0);
  }

  // Guests.

  void hear(Connection& guest) {
    for (int i = 0; i < kFramesAtOnce; ++i) {
      std::optional<Frame> frame;
      const auto reading = guest.read(frame);
      if (!reading) return expel(guest, reading.error());
      if (*reading == Connection::Reading::kOver) return lose(guest);
      if (*reading == Connection::Reading::kMore) break;
      if (*reading == Connection::Reading::kHeld)
        return guest.watch(guests_poller, guest.has_written() ? 0u : uint32_t{EPOLLOUT});
      if (*reading == Connection::Reading::kWaits) return write_on(guest);
      if (frame->kind == FrameKind::kMessage) {
        --guest.credit;
        guest.waiting = true;
        events.push_back(Said{guest.id, std::move(frame->payload)});
      } else if (frame->kind != FrameKind::kAlive) {
        return expel(guest, {Code::kIntegrity, "sent what only a learner sends"});
      }
      if (!guest.session.has_pending()) return write_on(guest);  // It may have been held.
    }
    again.push_back(guest.id);
  }

  void expel(Connection& guest, const Error& reason) {
    const ConnectionId id = guest.id;
    refuse(guest, guest.session.peer()->uri(), reason);
    events.push_back(Left{id});
  }

  void want(Connection& guest) {
    guest.credit = std::min(guest.credit + 1, kCreditMax);
    hear_again(guest);
  }

  /// Where nothing is left to come, a poller is silent.
  void hear_again(Connection& guest) {
    if (guest.is_wanted() && (guest.holds_message() || guest.session.has_pending()))
      again.push_back(guest.id);
  }

  Event take_event() {
    Event event = std::move(events.front());
    events.pop_front();
    const auto* said = std::get_if<Said>(&event);
    Connection* guest = said != nullptr ? find_guest(said->connection) : nullptr;
    if (guest != nullptr) {
      guest->waiting = false;
      hear_again(*guest);
    }
    return event;
  }

  void serve(const epoll_event& event) {
    if (event.data.u64 == kDoorNumber) return strangers_turn();
    if (event.data.u64 == kWakerNumber) {
      eventfd_t count = 0;
      ::eventfd_read(waker.get(), &count);
      woken = true;
      return;
    }
    Connection* connection = find(ConnectionId{event.data.u64});
    if (connection == nullptr) return;
    if ((event.events & EPOLLOUT) != 0 || connection->stage == Stage::kEnding)
      write_on(*connection);
    if ((event.events & ~uint32_t{EPOLLOUT}) == 0) return;
    if (Connection* guest = find_guest(ConnectionId{event.data.u64})) hear(*guest);
    // A poller tells of a broken connection again and again, also where nothing is to be read.
    const bool broken = (event.events & (EPOLLHUP | EPOLLERR)) != 0;
    Connection* guest = find_guest(ConnectionId{event.data.u64});
    if (broken && guest != nullptr && guest->holds_message() && !guest->is_wanted()) leave(*guest);
  }

  // Credentials.

  void take_credentials() {
    credentials = live.now();
    context =
        std::make_shared<const TlsContext>(TlsContext::for_server(*credentials, door.expected));
  }

  /// By the list in use, which may be newer than the connection.
  bool is_revoked(const Connection& connection) const {
    return credentials->revoked.has(connection.session.peer_serial());
  }

  /// Whoever is here with a certificate that has been revoked meanwhile goes.
  void renew_credentials() {
    if (live.now() == credentials) return;
    take_credentials();
    std::vector<ConnectionId> revoked;
    for (const auto& [id, each] : connections)
      if (each->stage == Stage::kGuest && is_revoked(*each)) revoked.push_back(id);
    for (const ConnectionId id : revoked)
      expel(*find(id), {Code::kIntegrity, "your certificate was revoked",
                        "Ask the consortium's authority why."});
  }

  // Time.

  void sweep() {
    const Moment now = time_now();
    if (door_opens && now >= *door_opens) {
      door_opens.reset();
      guests_poller.modify(strangers_poller.get(), kDoorNumber, EPOLLIN);
    }
    if (now < next_sweep) return;
    next_sweep = now + kSweep;
    renew_credentials();
    if (accept_again && now >= *accept_again) {
      accept_again.reset();
      watch_listeners(EPOLLIN);
    }
    for (auto place = connections.begin(); place != connections.end();) {
      Connection& each = *(place++)->second;
      if (each.stage == Stage::kGuest)
        show_life(each, now);
      else if (now > each.deadline)
        give_up(each);
    }
  }

  void show_life(Connection& guest, Moment now) {
    if (!guest.has_written() || now - guest.said < door.keepalive) return;
    guest.queue(to_frame(FrameKind::kAlive));
    write_on(guest);
  }

  void give_up(Connection& connection) {
    if (connection.stage == Stage::kHandshake || connection.stage == Stage::kOpening)
      note_refusal(connection.who(), "it did not finish the handshake in time");
    close(connection);
  }

  // The loop.

  bool look(int milliseconds) {
    ready = guests_poller.wait(room, milliseconds);
    return !ready.empty();
  }

  /// Waits until something happens and does what it asks for; false if nothing did until then.
  bool turn(Moment until) {
    sweep();
    for (const ConnectionId id : std::exchange(again, {}))
      if (Connection* guest = find_guest(id)) hear(*guest);
    if (!events.empty() || woken) return true;
    until = std::min(until, next_sweep);
    if (door_opens) until = std::min(until, *door_opens);
    if (!again.empty()) until = time_now();
    if (!spin_wait.wait([this](int milliseconds) { return look(milliseconds); }, until))
      return false;
    for (const epoll_event& event : ready) serve(event);
    return true;
  }

  bool has_last_words() const {
    return std::any_of(connections.begin(), connections.end(), [](const auto& each) {
      return each.second->stage == Stage::kEnding ||
             (each.second->stage == Stage::kLingering && each.second->session.peer());
    });
  }
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Server>> Server::listen(const Door& door, LiveCredentials credentials,
                                               Log log) {
  auto state = std::make_unique<State>(door, std::move(credentials), std::move(log));
  TRY(state->open());
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Server::~Server() {
  for (const Socket& socket : state_->listening.sockets)
    state_->strangers_poller.remove(socket.get());
  state_->listening.sockets.clear();
  const Moment until = time_now() + kLastWordsTime;
  while (state_->has_last_words() && time_now() < until) {
    state_->turn(until);
    state_->events.clear();
    state_->woken = false;
  }
  for (const auto& [id, each] : state_->connections)
    if (each->stage == Stage::kGuest) each->session.say_goodbye();
}

int Server::port() const { return state_->listening.port; }

Event Server::next(std::chrono::milliseconds patience) {
  State& state = *state_;
  state.lines.tell();
  const Moment until = time_now() + patience;
  for (;;) {
    if (!state.events.empty()) return state.take_event();
    if (std::exchange(state.woken, false)) return Nothing{};
    if (!state.turn(until) && time_now() >= until) return Nothing{};
  }
}

void Server::wake() { ::eventfd_write(state_->waker.get(), 1); }

void Server::send(ConnectionId connection, Bytes message) {
  Connection* guest = state_->find_guest(connection);
  if (guest == nullptr) return;
  if (guest->is_full())
    return dismiss(connection, {Code::kUnavailable, "does not read what it is sent"});
  guest->queue(to_frame(FrameKind::kMessage, message));
  state_->write_on(*guest);
  hear_on(connection);
}

void Server::hear_on(ConnectionId connection) {
  if (Connection* guest = state_->find_guest(connection)) state_->want(*guest);
}

void Server::turn_away(ConnectionId connection, const std::string& who, const Error& reason) {
  if (Connection* guest = state_->find_guest(connection)) state_->refuse(*guest, who, reason);
}

void Server::dismiss(ConnectionId connection, const Error& reason) {
  if (Connection* guest = state_->find_guest(connection)) state_->end(*guest, reason);
}

}  // namespace parley::net
