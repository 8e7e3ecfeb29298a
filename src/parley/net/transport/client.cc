#include "parley/net/transport/client.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "parley/net/transport/frame.h"
#include "parley/net/transport/socket.h"
#include "parley/net/transport/spin_wait.h"
#include "parley/net/transport/tls.h"
#include "parley/wire/message.h"

namespace parley::net {
namespace {

using Steady = std::chrono::steady_clock;
using Step = TlsSession::Step;

constexpr std::chrono::seconds kOpenTime{20};  // from the name to the learner's first word
constexpr size_t kInboxBytesMax = 2 * wire::kMessageBytesMax;  // read while we could not write

constexpr int kPiecesBetweenLooks = 128;     // then we look whether to stop
constexpr std::chrono::seconds kTryTime{5};  // where there is another address to try

/// Of two addresses: worth another try, if one of them is.
Error both(const Error& one, const Error& other) {
  Error error = one.code == Code::kUnavailable ? one : other;
  error.what = one.what + "; " + other.what;
  return error;
}

short events_for(Step step) { return step == Step::kWantsWrite ? POLLOUT : POLLIN; }

}  // namespace

struct Client::State {
  State(const LiveCredentials& live, const Dial& dial, const std::string& address,
        const std::atomic<bool>& stop)
      : dial(dial),
        address(address),
        live(live),
        credentials(live.now()),
        self(credentials->identity),
        stop(stop),
        context(TlsContext::for_client(*credentials, dial.learner)) {}

  const Dial dial;
  const std::string address;  // of the dial's
  const LiveCredentials live;
  std::shared_ptr<const Credentials> credentials;  // of them, those that were looked at
  const Identity self;
  const std::atomic<bool>& stop;
  TlsContext context;
  Socket socket{};
  std::optional<TlsSession> session{};
  FrameReader reader{dial.longest};
  bool ready = false;  // the peer has accepted our certificate
  std::deque<Bytes> inbox{};
  size_t inbox_bytes = 0;
  std::optional<Error> ended{};
  Steady::time_point heard{}, said{};
  Steady::time_point spoken{};  // when either side last said something, signs of life apart
  bool gave_up = false;
  bool more = false;  // to read at once, of which no poll tells
  SpinWait spin_wait{};
  Socket waker{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};

  Error unavailable(const std::string& what) const { return {Code::kUnavailable, what}; }

  Error revoked() const {
    return {Code::kIntegrity, "the authority has revoked the certificate of " + address,
            "Nothing more is said to it. Ask the consortium who the learner is now."};
  }
  /// By a list that came while the stream was open?
  bool is_revoked() {
    auto now = live.now();
    if (now == credentials) return false;
    credentials = std::move(now);
    return credentials->revoked.has(session->peer_serial());
  }

  /// Whatever comes before the peer has proved who it is may come from anyone, so that nothing but
  /// its certificate is a reason to give up.
  Error why_no_handshake() const {
    if (stop) return unavailable("interrupted");
    const std::string trouble = session->trouble();
    if (session->is_peer_revoked()) return revoked();
    if (session->is_peer_unverified() && session->peer())
      return {Code::kIntegrity,
              address + " is " + session->peer()->uri() + ", not " + dial.learner.uri(),
              "Check the address, and the learner's certificate."};
    if (session->is_peer_unverified())
      return {Code::kIntegrity,
              "the certificate of " + address + " is not from our authority, or has expired",
              "Ask `parley doctor` what is wrong."};
    if (session->alert() && is_about_version(*session->alert()))
      return {Code::kUnavailable,
              address + " does not speak " + std::string(kProtocol) + " over TLS 1.3",
              "Install the same version of Parley on both sides."};
    return unavailable(address +
                       " does not shake hands: " + (trouble.empty() ? "it hung up" : trouble));
  }

  /// Why a stream ended that nobody ended with a reason.
  Error why_over() const {
    if (stop) return unavailable("interrupted");
    if (!ready && session->alert() && is_not_on_the_list(*session->alert()))
      return {Code::kPolicy, address + " does not expect " + self.uri(),
              "Is this owner in the charter that the learner runs?"};
    if (!ready && session->alert() && is_about_our_certificate(*session->alert()))
      return {Code::kIntegrity,
              address + " refuses our certificate: " + about_our_certificate(*session->alert()),
              "Ask `parley doctor` what is wrong."};
    const std::string trouble = session->trouble();
    return unavailable(address + " closed the stream" + (trouble.empty() ? "" : ": " + trouble));
  }

  Result<void> shake_hands(const Deadline& deadline) {
    for (;;) {
      const Step step = session->shake_hands();
      if (step == Step::kDone) break;
      if (step == Step::kOver) return why_no_handshake();
      if (!wait_for(socket.get(), events_for(step), deadline))
        return unavailable(stop ? "interrupted" : address + " does not finish the handshake");
    }
    if (session->speaks_ours()) return {};
    return Error{Code::kIntegrity,
                 address + " does not speak " + std::string(kProtocol) +
                     ": it runs Parley 0.1, or something else",
                 "Install the same version of Parley on both sides."};
  }

  Result<void> await_ready(const Deadline& deadline) {
    heard = said = spoken = Steady::now();
    while (!ready && !ended) {
      read_on();
      if (ready || ended) break;
      if (more ? deadline.left_ms() == 0 : !wait_for(socket.get(), POLLIN, deadline))
        return unavailable(stop ? "interrupted" : address + " says nothing");
    }
    if (ended) return *ended;
    return {};
  }

  void take(Frame frame) {
    switch (frame.kind) {
      case FrameKind::kReady:
        ready = true;
        break;
      case FrameKind::kMessage:
        inbox_bytes += frame.payload.size();
        spoken = Steady::now();
        inbox.push_back(std::move(frame.payload));
        break;
      case FrameKind::kEnd:
        ended = decode_end(frame.payload);
        ::shutdown(socket.get(), SHUT_RDWR);  // So that the peer need not wait.
        if (ended->what.empty()) ended->what = address + " closed the stream";
        break;
      case FrameKind::kAlive:
        break;
      case FrameKind::kOpen:
        ended = Error{Code::kIntegrity, address + " speaks as if it had dialled us"};
        break;
    }
  }

  /// Reads what is there: not more than there is room for, and of many small pieces only some.
  void read_on() {
    more = false;
    for (int i = 0; !ended && inbox_bytes < kInboxBytesMax; ++i) {
      if (more = i == kPiecesBetweenLooks; more) return;
      size_t count = 0;
      const auto room = reader.room();
      const Step step = room.empty() ? Step::kDone : session->read(room, count);
      if (step == Step::kOver) ended = why_over();
      if (step != Step::kDone) return;
      heard = Steady::now();
      auto frame = reader.take(count);
      if (!frame) ended = Error{Code::kIntegrity, address + " " + frame.error().what};
      if (!frame || !*frame) continue;
      take(**std::move(frame));
      if (!session->has_pending()) return;
    }
  }

  /// Has the peer been silent for too long, since then or since it was last heard?
  bool is_silent(Steady::time_point since) const {
    return Steady::now() - std::max(since, heard) > dial.keepalive + dial.keepalive_timeout;
  }
  Error silent() const { return unavailable(address + " has been silent for too long"); }

  /// Has nothing been said for longer than we have patience?
  bool is_mute() const {
    return dial.patience.count() > 0 && Steady::now() - spoken > dial.patience;
  }
  Error mute() {
    gave_up = true;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(dial.patience).count();
    return unavailable(address + " is there, and has said nothing for " + std::to_string(seconds) +
                       " s");
  }

  /// While the peer does not take it, what it says is read: that may be why.
  Result<void> write(const Bytes& frame) {
    const auto began = Steady::now();
    for (size_t done = 0; done < frame.size();) {
      if (ended) return *ended;
      size_t count = 0;
      const Step step = session->write(ByteView(frame).subspan(done), count);
      done += count;
      if (step == Step::kDone) continue;
      const bool full = inbox_bytes >= kInboxBytesMax;
      if (step != Step::kOver) {
        const auto events = static_cast<short>(POLLOUT | (full ? 0 : POLLIN));
        wait_for(socket.get(), events, Deadline(kStopTick, &stop));
      }
      read_on();
      if (!ended && (stop || step == Step::kOver)) ended = why_over();
      if (!ended && !full && is_silent(began)) ended = silent();
      if (!ended && is_mute()) ended = mute();
      if (!ended && is_revoked()) ended = revoked();
    }
    said = Steady::now();
    return {};
  }

  /// Whether the socket or the waker has something.
  bool look(int milliseconds) {
    pollfd watched[] = {{socket.get(), POLLIN, 0}, {waker.get(), POLLIN, 0}};
    return ::poll(watched, 2, milliseconds) > 0;
  }

  bool is_woken() {
    eventfd_t count = 0;
    return ::eventfd_read(waker.get(), &count) == 0;
  }

  std::optional<Bytes> next_message() {
    if (inbox.empty()) return std::nullopt;
    Bytes message = std::move(inbox.front());
    inbox.pop_front();
    inbox_bytes -= message.size();
    return message;
  }
};

Client::Client(std::unique_ptr<State> state) : state_(std::move(state)) {}
Client::Client(Client&&) noexcept = default;

Client::~Client() {
  if (state_ && state_->session) state_->session->say_goodbye();
}

Result<Client> Client::open(const LiveCredentials& credentials, const Dial& dial,
                            const std::atomic<bool>& stop, const char* call) {
  std::optional<Error> failed;
  for (const std::string& address : dial.address.all) {
    const bool last = address == dial.address.all.back();
    auto opened = open_at(address, last ? kOpenTime : kTryTime, credentials, dial, stop, call);
    if (opened || stop) return opened;
    failed = failed ? both(*failed, opened.error()) : opened.error();
  }
  if (failed) return *failed;
  return Error{Code::kInvalid, "there is no address to dial", "Add [network] dial to the policy."};
}

Result<Client> Client::open_at(const std::string& address, std::chrono::seconds connect_time,
                               const LiveCredentials& credentials, const Dial& dial,
                               const std::atomic<bool>& stop, const char* call) {
  auto state = std::make_unique<State>(credentials, dial, address, stop);
  state->socket = TRY(reach(address, dial.proxy, Deadline(connect_time, &stop)));
  const Deadline deadline(kOpenTime, &stop);
  set_options(state->socket, dial.keepalive_timeout);
  state->session.emplace(state->context, state->socket.get(), split_address(address).host);
  TRY(state->shake_hands(deadline));
  TRY(state->await_ready(deadline));
  TRY(state->write(to_frame(FrameKind::kOpen, as_bytes(call))));
  return Client(std::move(state));
}

const std::string& Client::address() const { return state_->address; }

Result<void> Client::write(const Bytes& message) {
  state_->spoken = Steady::now();
  return state_->write(to_frame(FrameKind::kMessage, message));
}

Result<Bytes> Client::read() {
  for (;;) {
    auto message = TRY(read_until(Steady::time_point::max()));
    if (message) return *std::move(message);
  }
}

Result<std::optional<Bytes>> Client::read_until(Steady::time_point until) {
  State& state = *state_;
  const auto began = Steady::now();
  for (;;) {
    if (state.session->has_pending()) state.read_on();
    if (state.stop) return state.why_over();  // Whatever else there is to hear.
    if (auto message = state.next_message()) return message;
    if (state.ended) return *state.ended;
    const auto now = Steady::now();
    if (state.is_silent(began)) state.ended = state.silent();
    if (!state.ended && state.is_mute()) state.ended = state.mute();
    if (!state.ended && state.is_revoked()) state.ended = state.revoked();
    if (state.ended) continue;
    if (now - state.said >= state.dial.keepalive) TRY(state.write(to_frame(FrameKind::kAlive)));
    if (state.more) continue;
    const auto look = [&](int milliseconds) { return state.look(milliseconds); };
    if (!state.spin_wait.wait(look, std::min(until, now + kStopTick))) {
      if (Steady::now() >= until) return std::optional<Bytes>();
      continue;
    }
    state.read_on();
    if (state.inbox.empty() && !state.ended && state.is_woken()) return std::optional<Bytes>();
  }
}

bool Client::has_given_up() const { return state_->gave_up; }

void Client::wake() { ::eventfd_write(state_->waker.get(), 1); }

}  // namespace parley::net
