#include "parley/net/transport/connection.h"

#include <sys/socket.h>

#include <cerrno>

#include "parley/wire/message.h"

namespace parley::net {
namespace {

constexpr size_t kPiecesAtOnce = 128;  // A record may have one byte.
static_assert(kPiecesAtOnce > kFrameHead + kCallBytesMax, "of a stranger one look is enough");
constexpr size_t kOutboxMax = 1000;  // messages to a guest that does not read
constexpr size_t kOutboxBytesMax = 4 * wire::kMessageBytesMax;
constexpr size_t kThrownAwayMax = 4 * wire::kMessageBytesMax;

}  // namespace

std::string Connection::who() const {
  return (session.peer() ? session.peer()->uri() : "a stranger") + " at " + address.text;
}

Result<Connection::Reading> Connection::read(std::optional<Frame>& frame) {
  for (size_t i = 0; i < kPiecesAtOnce; ++i) {
    if (reader_.holds_message() && !is_wanted()) return Reading::kHeld;
    size_t count = 0;
    const auto room = reader_.room();
    if (!room.empty()) {
      const auto step = session.read(room, count);
      if (step == TlsSession::Step::kOver) return Reading::kOver;
      if (step != TlsSession::Step::kDone) return Reading::kWaits;
    }
    frame = TRY(reader_.take(count));
    if (frame) return Reading::kFrame;
  }
  return Reading::kMore;
}

void Connection::queue(Bytes frame) {
  outbox_bytes_ += frame.size();
  outbox_.push_back(std::move(frame));
}

bool Connection::is_full() const {
  return outbox_.size() >= kOutboxMax || outbox_bytes_ >= kOutboxBytesMax;
}

Connection::Writing Connection::write_on() {
  while (!outbox_.empty()) {
    const Bytes& first = outbox_.front();
    size_t count = 0;
    const auto step = session.write(ByteView(first).subspan(written_), count);
    if (step == TlsSession::Step::kOver) return Writing::kOver;
    if (step != TlsSession::Step::kDone) return Writing::kWaits;
    written_ += count;
    said = std::chrono::steady_clock::now();
    if (written_ < first.size()) continue;
    outbox_bytes_ -= first.size();
    written_ = 0;
    outbox_.pop_front();
  }
  return Writing::kDone;
}

void Connection::hang_up() {
  session.say_goodbye();
  ::shutdown(socket.get(), SHUT_WR);
  stage = Stage::kLingering;
}

bool Connection::throw_away() {
  uint8_t bytes[16 << 10];
  const ssize_t came = ::recv(socket.get(), bytes, sizeof bytes, 0);
  if (came < 0) return errno == EAGAIN || errno == EINTR;
  thrown_away_ += static_cast<size_t>(came);
  return came > 0 && thrown_away_ < kThrownAwayMax;
}

void Connection::watch(const Poller& poller, uint32_t events) {
  if (poller_ == &poller && events_ == events) return;
  const auto number = static_cast<uint64_t>(id);
  if (poller_ == &poller) {
    poller.modify(socket.get(), number, events);
  } else {
    if (poller_ != nullptr) poller_->remove(socket.get());
    poller.add(socket.get(), number, events);
  }
  poller_ = &poller;
  events_ = events;
}

}  // namespace parley::net
