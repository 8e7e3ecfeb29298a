#include "parley/net/transport/server.h"

#include <grpcpp/alarm.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "parley/net/transport/refusals.h"
#include "parley/net/transport/spin_wait.h"

namespace parley::net {
namespace {

constexpr size_t kMemoryMax = size_t{256} << 20;
constexpr size_t kOutboxMax = 1000;  // messages to a guest that does not read
constexpr int kStreamsPerConnection = 4;

enum class Operation { kArrive, kRead, kWrite, kFinish };
constexpr int kOperations = 4;

/// One stream. At most one read and one write are under way; it may be deleted when nothing is.
struct Stream {
  struct Tag {
    Stream* stream;
    Operation operation;
  };

  explicit Stream(ConnectionId connection) : id(connection) {}
  void* begin(Operation operation) {
    ++under_way;
    Tag& tag = tags[static_cast<int>(operation)];
    tag = {this, operation};
    return &tag;
  }

  ConnectionId id;
  grpc::GenericServerContext context;
  grpc::GenericServerAsyncReaderWriter stream{&context};
  grpc::ByteBuffer incoming;
  std::deque<Bytes> outbox;
  std::optional<grpc::Status> last_words;  // once it is to end
  bool reading = false, writing = false, finishing = false, broken = false;
  int under_way = 0;
  Tag tags[kOperations];
};

std::shared_ptr<grpc::ServerCredentials> server_credentials(const Credentials& credentials) {
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = credentials.authority;
  options.pem_key_cert_pairs.push_back({credentials.key, credentials.certificate});
  return grpc::SslServerCredentials(options);
}

/// The URI of the verified certificate.
Result<Identity> identity_in(const grpc::AuthContext& context) {
  const auto uris = context.FindPropertyValues(GRPC_PEER_URI_PROPERTY_NAME);
  if (!context.IsPeerAuthenticated() || uris.size() != 1)
    return Error{Code::kPolicy, "the certificate does not name one party",
                 "Use the certificate that `parley certs sign` made."};
  return Identity::parse({uris[0].data(), uris[0].size()});
}

Error too_long(size_t size, size_t longest) {
  return {Code::kIntegrity, "sent a message of " + std::to_string(size) +
                                " bytes, where the longest that can be due has " +
                                std::to_string(longest)};
}

}  // namespace

struct Server::State {
  State(Log log, const char* call) : refusals(std::move(log)), call(call) {}
  Refusals refusals;
  const char* call;
  size_t longest = 0;
  grpc::AsyncGenericService service;
  std::unique_ptr<grpc::ServerCompletionQueue> queue;
  SpinWait spin_wait;
  std::unique_ptr<grpc::Server> server;
  int port = 0;
  uint64_t streams_so_far = 0;
  std::map<ConnectionId, std::unique_ptr<Stream>> streams;
  grpc::Alarm alarm;
  std::mutex alarm_mutex;
  bool alarm_set = false;  // At most one is under way.

  void await_stream() {
    const ConnectionId id{++streams_so_far};
    auto& stream = *streams.emplace(id, std::make_unique<Stream>(id)).first->second;
    service.RequestCall(&stream.context, &stream.stream, queue.get(), queue.get(),
                        stream.begin(Operation::kArrive));
  }

  void read(Stream& stream) {
    if (std::exchange(stream.reading, true)) return;
    stream.stream.Read(&stream.incoming, stream.begin(Operation::kRead));
  }

  /// Writes what is due, one message at a time, and the last words after them.
  void write_on(Stream& stream) {
    if (stream.writing || stream.finishing) return;
    if (!stream.outbox.empty() && !stream.broken) {
      stream.writing = true;
      stream.stream.Write(to_buffer(stream.outbox.front()), stream.begin(Operation::kWrite));
      stream.outbox.pop_front();
    } else if (stream.last_words) {
      stream.finishing = true;
      stream.stream.Finish(*stream.last_words, stream.begin(Operation::kFinish));
    }
  }

  void end(Stream& stream, grpc::Status last_words) {
    if (stream.last_words) return;
    stream.last_words = std::move(last_words);
    write_on(stream);
  }

  void refuse(Stream& stream, const std::string& who, const Error& reason) {
    refusals.add(who, reason.what);
    end(stream, to_status(reason));
  }

  Event on_arrival(Stream& stream) {
    await_stream();
    const auto identity = identity_in(*stream.context.auth_context());
    const bool attends = stream.context.method() == call;
    if (!attends || !identity) {
      const Error reason =
          identity ? Error{Code::kInvalid, "there is no call " + stream.context.method()}
                   : identity.error();
      return refuse(stream, stream.context.peer(), reason), Nothing{};
    }
    read(stream);
    return Arrived{stream.id, *identity, stream.context.peer()};
  }

  Event on_read(Stream& stream, bool ok) {
    stream.reading = false;
    if (stream.last_words) return Nothing{};
    const size_t size = ok ? stream.incoming.Length() : 0;
    if (ok && size <= longest) return Said{stream.id, to_bytes(stream.incoming)};
    if (ok)
      refuse(stream, identity_in(*stream.context.auth_context())->uri(), too_long(size, longest));
    end(stream, grpc::Status::OK);
    return Left{stream.id};
  }

  Event on_event(Stream& stream, Operation operation, bool ok) {
    if (operation == Operation::kArrive && ok) return on_arrival(stream);
    if (operation == Operation::kRead) return on_read(stream, ok);
    if (operation == Operation::kWrite) {
      stream.writing = false;
      stream.broken = !ok;  // The read that is under way will say so.
      write_on(stream);
    }
    return Nothing{};
  }
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Server>> Server::listen(const std::string& address,
                                               const Credentials& credentials, size_t longest,
                                               Log log, const char* call) {
  auto state = std::make_unique<State>(std::move(log), call);
  state->longest = longest;
  grpc::ServerBuilder builder;
  grpc::ResourceQuota quota("learner");
  builder.SetResourceQuota(quota.Resize(kMemoryMax));
  builder.SetMaxReceiveMessageSize(-1);  // gRPC's own limit ends a stream without telling us why.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // Two learners must not share a port.
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreamsPerConnection);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);  // It answers every message with a ping.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, int(1000 * kKeepalive.count()));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, int(1000 * kKeepaliveTimeout.count()));
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             int(500 * kKeepalive.count()));
  builder.AddListeningPort(address, server_credentials(credentials), &state->port);
  builder.RegisterAsyncGenericService(&state->service);
  state->queue = builder.AddCompletionQueue();
  state->server = builder.BuildAndStart();
  if (!state->server || state->port == 0)
    return Error{Code::kFailed, "cannot listen on " + address,
                 "Is the port taken, or the address not this machine's?"};
  state->await_stream();
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Server::~Server() {
  state_->server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(2));
  state_->queue->Shutdown();
  void* tag = nullptr;
  for (bool ok = false; state_->queue->Next(&tag, &ok);) {
  }
}

int Server::port() const { return state_->port; }

Event Server::next(std::chrono::milliseconds patience) {
  state_->refusals.tell();
  tell_refused_handshakes();
  const auto until = std::chrono::system_clock::now() + patience;
  for (;;) {
    void* place = nullptr;
    bool ok = false;
    if (state_->spin_wait.next(*state_->queue, &place, &ok, until) !=
        grpc::CompletionQueue::GOT_EVENT)
      return Nothing{};
    if (place == &state_->alarm) {
      const std::lock_guard lock(state_->alarm_mutex);
      state_->alarm_set = false;
      return Nothing{};
    }
    const auto tag = *static_cast<Stream::Tag*>(place);
    --tag.stream->under_way;
    Event event = state_->on_event(*tag.stream, tag.operation, ok);
    const bool over = tag.stream->finishing && tag.stream->under_way == 0;
    if (over) state_->streams.erase(tag.stream->id);
    if (!std::holds_alternative<Nothing>(event)) return event;
  }
}

void Server::wake() {
  const std::lock_guard lock(state_->alarm_mutex);
  if (std::exchange(state_->alarm_set, true)) return;
  state_->alarm.Set(state_->queue.get(), std::chrono::system_clock::now(), &state_->alarm);
}

void Server::send(ConnectionId connection, Bytes message) {
  const auto found = state_->streams.find(connection);
  if (found == state_->streams.end() || found->second->last_words) return;
  Stream& stream = *found->second;
  if (stream.outbox.size() >= kOutboxMax)
    return dismiss(connection, {Code::kUnavailable, "does not read what it is sent"});
  stream.outbox.push_back(std::move(message));
  state_->write_on(stream);
  state_->read(stream);
}

void Server::hear_on(ConnectionId connection) {
  const auto found = state_->streams.find(connection);
  if (found != state_->streams.end() && !found->second->last_words) state_->read(*found->second);
}

void Server::turn_away(ConnectionId connection, const std::string& who, const Error& reason) {
  const auto found = state_->streams.find(connection);
  if (found != state_->streams.end()) state_->refuse(*found->second, who, reason);
}

void Server::dismiss(ConnectionId connection, const Error& reason) {
  const auto found = state_->streams.find(connection);
  if (found != state_->streams.end()) state_->end(*found->second, to_status(reason));
}

}  // namespace parley::net
