#include "parley/net/transport/client.h"

#include <grpcpp/alarm.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "parley/net/transport/spin_wait.h"
#include "parley/net/transport/transport.h"
#include "parley/wire/message.h"

namespace parley::net {
namespace {

namespace tls = grpc::experimental;
using Steady = std::chrono::steady_clock;

/// What the handshake found, for a message better than "connection failed".
struct Finding {
  std::mutex mutex;
  std::optional<std::string> stranger;  // who answered instead of the learner
};

/// Accepts the one learner of the charter, whatever host it runs on. The chain has been verified
/// against the consortium's authority before.
class ExpectLearner final : public tls::ExternalCertificateVerifier {
 public:
  ExpectLearner(Identity learner, std::shared_ptr<Finding> finding)
      : learner_(std::move(learner)), finding_(std::move(finding)) {}

  bool Verify(tls::TlsCustomVerificationCheckRequest* request, std::function<void(grpc::Status)>,
              grpc::Status* status) override {
    const auto uris = request->uri_names();
    const std::string found = uris.size() == 1 ? std::string(uris[0].data(), uris[0].size()) : "";
    if (found != learner_.uri()) {
      const std::lock_guard lock(finding_->mutex);
      finding_->stranger = found.empty() ? "someone without one name" : found;
      *status = {grpc::UNAUTHENTICATED, "not the learner of the charter"};
    }
    return true;
  }
  void Cancel(tls::TlsCustomVerificationCheckRequest*) override {}

 private:
  Identity learner_;
  std::shared_ptr<Finding> finding_;
};

std::shared_ptr<grpc::ChannelCredentials> client_credentials(
    const Credentials& credentials, const Identity& learner,
    const std::shared_ptr<Finding>& finding) {
  tls::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(std::make_shared<tls::StaticDataCertificateProvider>(
      credentials.authority,
      std::vector<tls::IdentityKeyCertPair>{{credentials.key, credentials.certificate}}));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_verify_server_certs(true);
  options.set_check_call_host(false);  // The URI decides, not the host's name.
  options.set_certificate_verifier(
      tls::ExternalCertificateVerifier::Create<ExpectLearner>(learner, finding));
  return tls::TlsCredentials(options);
}

grpc::ChannelArguments arguments(const Dial& dial) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(static_cast<int>(wire::kMessageBytesMax));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, static_cast<int>(1000 * kKeepalive.count()));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                   static_cast<int>(1000 * kKeepaliveTimeout.count()));
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);            // It answers every message with a ping.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // Whoever dials decides when to retry.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, dial.proxy.empty() ? 0 : 1);
  if (!dial.proxy.empty()) arguments.SetString(GRPC_ARG_HTTP_PROXY, dial.proxy);
  return arguments;
}

}  // namespace

struct Client::State {
  const std::atomic<bool>* stop;
  std::shared_ptr<Finding> finding = std::make_shared<Finding>();
  Dial dial;
  grpc::CompletionQueue queue;
  SpinWait spin_wait;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<grpc::GenericStub> stub;
  grpc::ClientContext context;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream;

  /// Of a read and of everything else: at most one of each is under way.
  struct Operation {
    bool under_way = false, ok = false;
  };
  Operation reading, other;
  grpc::ByteBuffer incoming;
  bool pending = false;  // a read whose outcome nobody has taken

  /// At most one is under way.
  grpc::Alarm alarm;
  std::mutex alarm_mutex;
  bool alarm_set = false;
  bool woken = false;  // and nobody has been told

  void* begin(Operation& operation) {
    operation.under_way = true;
    return &operation;
  }

  /// Waits for this operation; false if it is still under way at `until`. The waiting thread does
  /// the network's work itself, which saves a switch to another thread in every round.
  bool wait(Operation& operation, Steady::time_point until = Steady::time_point::max(),
            bool light_sleeper = false) {
    while (operation.under_way) {
      if (light_sleeper && std::exchange(woken, false)) return false;
      const auto left = until - Steady::now();
      if (left <= Steady::duration::zero()) return false;
      void* tag = nullptr;
      bool ok = false;
      const auto soon = std::chrono::system_clock::now() +
                        std::min<Steady::duration>(left, std::chrono::milliseconds(200));
      const auto next = spin_wait.next(queue, &tag, &ok, soon);
      if (next == grpc::CompletionQueue::SHUTDOWN) return operation = {}, true;
      if (next == grpc::CompletionQueue::GOT_EVENT && tag == &alarm)
        hear_alarm();
      else if (next == grpc::CompletionQueue::GOT_EVENT)
        *static_cast<Operation*>(tag) = {false, ok};
      else if (*stop)
        context.TryCancel();
    }
    return true;
  }

  void set_alarm() {
    const std::lock_guard lock(alarm_mutex);
    if (std::exchange(alarm_set, true)) return;
    alarm.Set(&queue, std::chrono::system_clock::now(), &alarm);
  }
  void hear_alarm() {
    const std::lock_guard lock(alarm_mutex);
    alarm_set = false;
    woken = true;
  }

  void finish() {
    context.TryCancel();
    wait(reading);
    queue.Shutdown();
    void* tag = nullptr;
    for (bool ok = false; queue.Next(&tag, &ok);) {
    }
  }

  /// Why a stream ended comes after its last message: messages that nobody reads hold it back for
  /// ever.
  void read_away() {
    if (!pending) stream->Read(&incoming, begin(reading));
    for (wait(reading); reading.ok; wait(reading)) stream->Read(&incoming, begin(reading));
  }

  /// Why the stream ended.
  Error reason() {
    grpc::Status status;
    wait(reading);  // Whatever ended the stream ends it, too.
    stream->Finish(&status, begin(other));
    wait(other);
    const std::lock_guard lock(finding->mutex);
    if (finding->stranger)
      return {Code::kIntegrity,
              dial.address + " is " + *finding->stranger + ", not " + dial.learner.uri(),
              "Check the address, and the learner's certificate."};
    if (*stop) return {Code::kUnavailable, "interrupted"};
    Error error = to_error(status);
    if (error.what.find("certificate verify failed") != std::string::npos)
      return {Code::kIntegrity,
              "the certificate of " + dial.address + " is not from our authority, or has expired",
              "Ask `parley doctor` what is wrong."};
    if (error.what.find("message larger than max") != std::string::npos)
      return {Code::kIntegrity, dial.address + " sent a message longer than any can be"};
    if (error.what.empty()) error.what = dial.address + " closed the stream";
    return error;
  }
};

Client::Client(std::unique_ptr<State> state) : state_(std::move(state)) {}
Client::Client(Client&&) noexcept = default;

Client::~Client() {
  if (!state_) return;
  state_->finish();
}

Result<Client> Client::open(const Credentials& credentials, const Dial& dial,
                            const std::atomic<bool>& stop, const char* call) {
  auto state = std::make_unique<State>();
  state->stop = &stop;
  state->dial = dial;
  state->channel = grpc::CreateCustomChannel(
      dial.address, client_credentials(credentials, dial.learner, state->finding), arguments(dial));
  state->stub = std::make_unique<grpc::GenericStub>(state->channel);
  state->stream = state->stub->PrepareCall(&state->context, call, &state->queue);
  state->stream->StartCall(state->begin(state->other));
  state->wait(state->other);
  const bool started = state->other.ok;
  Client line(std::move(state));
  if (!started) return line.state_->reason();
  return line;
}

Result<void> Client::write(const Bytes& message) {
  state_->stream->Write(to_buffer(message), state_->begin(state_->other));
  state_->wait(state_->other);
  if (state_->other.ok) return {};
  state_->read_away();
  return state_->reason();
}

Result<Bytes> Client::read() {
  for (;;) {
    auto message = TRY(read_until(Steady::time_point::max()));
    if (message) return *std::move(message);
  }
}

Result<std::optional<Bytes>> Client::read_until(Steady::time_point until) {
  if (!state_->pending) {
    state_->stream->Read(&state_->incoming, state_->begin(state_->reading));
    state_->pending = true;
  }
  if (!state_->wait(state_->reading, until, true)) return std::optional<Bytes>();
  state_->pending = false;
  if (!state_->reading.ok) return state_->reason();
  return std::optional(to_bytes(state_->incoming));
}

void Client::wake() { state_->set_alarm(); }

}  // namespace parley::net
