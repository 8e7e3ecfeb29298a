#include "parley/net/web/server.h"

#include <fcntl.h>
#include <microhttpd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "parley/net/web/listen.h"

namespace parley::net {
namespace {

using Steady = std::chrono::steady_clock;

/// Ends connections whose request takes too long, however slowly a client drips its bytes.
class Watch {
 public:
  explicit Watch(std::chrono::seconds longest)
      : longest_(longest), thread_([this](const std::stop_token& over) { look_on(over); }) {}

  void opened(int descriptor) { begin(descriptor); }
  void closed(int descriptor) {
    const std::lock_guard lock(mutex_);
    since_.erase(descriptor);
  }
  void begin(int descriptor) {
    const std::lock_guard lock(mutex_);
    since_.insert_or_assign(descriptor, Steady::now());
  }
  /// While our own handler works, which is no fault of the client's.
  void pause(int descriptor) {
    const std::lock_guard lock(mutex_);
    since_.insert_or_assign(descriptor, Steady::time_point::max());
  }

 private:
  void look_on(const std::stop_token& over) {
    std::unique_lock lock(mutex_);
    while (!over.stop_requested()) {
      for (const auto& [descriptor, since] : since_)
        if (since < Steady::now() - longest_) ::shutdown(descriptor, SHUT_RDWR);
      over_.wait_for(lock, over, std::chrono::seconds(1), [] { return false; });
    }
  }

  std::chrono::seconds longest_;
  std::mutex mutex_{};
  std::map<int, Steady::time_point> since_{};  // by descriptor, which is open as long as it is here
  std::condition_variable_any over_{};
  std::jthread thread_;  // Last: it uses all of the above.
};

struct StopDaemon {
  void operator()(MHD_Daemon* daemon) const { MHD_stop_daemon(daemon); }
};

/// One request on its way in.
struct Exchange {
  HttpRequest request{};
  std::string body{};
};

int descriptor_of(MHD_Connection* connection) {
  return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

MHD_Result add_header(void* fields, MHD_ValueKind, const char* name, size_t name_size,
                      const char* value, size_t value_size) {
  static_cast<Fields*>(fields)->add(lower({name, name_size}),
                                    value == nullptr ? "" : std::string(value, value_size));
  return MHD_YES;
}

MHD_Result add_field(void* fields, MHD_ValueKind, const char* name, size_t name_size,
                     const char* value, size_t value_size) {
  static_cast<Fields*>(fields)->add({name, name_size},
                                    value == nullptr ? "" : std::string(value, value_size));
  return MHD_YES;
}

HttpRequest request_of(MHD_Connection* connection, const char* path, const char* method) {
  HttpRequest request{.method = method, .path = path};
  MHD_get_connection_values_n(connection, MHD_HEADER_KIND, &add_header, &request.headers);
  MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, &add_field, &request.query);
  return request;
}

/// A hidden end of text stays visible: what follows it is not cut off unseen.
size_t unescape(void*, MHD_Connection*, char* text) {
  return std::strstr(text, "%00") == nullptr ? MHD_http_unescape(text) : std::strlen(text);
}

HttpResponse plain(int status, const char* text) {
  return {.status = status, .body = text, .type = "text/plain; charset=utf-8"};
}

MHD_Result queue(MHD_Connection* connection, const HttpResponse& answer) {
  MHD_Response* response = MHD_create_response_from_buffer(
      answer.body.size(), const_cast<char*>(answer.body.data()), MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  bool added = MHD_add_response_header(response, "Content-Type", answer.type.c_str()) == MHD_YES;
  for (const auto& [name, value] : answer.headers)  // Refused with a line break in it.
    added = MHD_add_response_header(response, name.c_str(), value.c_str()) == MHD_YES && added;
  const MHD_Result queued =
      added ? MHD_queue_response(connection, static_cast<unsigned>(answer.status), response)
            : MHD_NO;
  MHD_destroy_response(response);
  return queued;
}

}  // namespace

struct HttpServer::State {
  HttpOptions options;
  HttpHandler handler;
  PageSocket where;
  Watch watch{options.request};
  std::unique_ptr<MHD_Daemon, StopDaemon> daemon{};  // Last: it uses all of the above.

  State(HttpOptions options_, HttpHandler handler_, PageSocket where_)
      : options(std::move(options_)), handler(std::move(handler_)), where(std::move(where_)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    daemon.reset();
    if (!where.unix_path.empty()) ::unlink(where.unix_path.c_str());
  }

  Result<void> begin();
  /// What is wrong before the body has come, or nothing.
  std::optional<HttpResponse> refused(const HttpRequest& request) const;
  HttpResponse answer(Exchange& exchange) const;
  MHD_Result head_came(MHD_Connection* connection, const char* path, const char* method,
                       void** exchange);
  MHD_Result all_came(MHD_Connection* connection, Exchange& exchange);

  static MHD_Result serve(void* self, MHD_Connection* connection, const char* path,
                          const char* method, const char* version, const char* data, size_t* size,
                          void** exchange);
  static void completed(void* self, MHD_Connection* connection, void** exchange,
                        MHD_RequestTerminationCode);
  static void notified(void* self, MHD_Connection* connection, void** socket_context,
                       MHD_ConnectionNotificationCode what);
};

std::optional<HttpResponse> HttpServer::State::refused(const HttpRequest& request) const {
  if (request.headers.count("host") != 1 ||
      !host_allowed(request.headers.text("host"), options.hosts))
    return plain(421, "This server does not answer under this name.\n");
  if (request.method != "GET" && request.method != "HEAD" && request.method != "POST")
    return plain(405, "GET, HEAD and POST only.\n");
  const auto length = request.headers.get("content-length");
  if (length && (length->size() > 9 || std::stoul("0" + *length) > options.body_bytes))
    return plain(413, "That is too long.\n");
  return std::nullopt;
}

MHD_Result HttpServer::State::head_came(MHD_Connection* connection, const char* path,
                                        const char* method, void** exchange) {
  auto begun = std::make_unique<Exchange>(Exchange{request_of(connection, path, method)});
  begun->request.over_socket = !where.unix_path.empty();
  const auto no = refused(begun->request);
  *exchange = begun.release();
  return no ? queue(connection, *no) : MHD_YES;
}

HttpResponse HttpServer::State::answer(Exchange& exchange) const {
  if (exchange.request.method == "POST") {
    auto form = parse_form(exchange.body);
    if (!form) return plain(400, "This is no form.\n");
    exchange.request.form = *std::move(form);
  }
  return handler(exchange.request);
}

MHD_Result HttpServer::State::all_came(MHD_Connection* connection, Exchange& exchange) {
  const int descriptor = descriptor_of(connection);
  watch.pause(descriptor);
  const HttpResponse response = answer(exchange);
  watch.begin(descriptor);
  return queue(connection, response);
}

MHD_Result HttpServer::State::serve(void* self, MHD_Connection* connection, const char* path,
                                    const char* method, const char*, const char* data, size_t* size,
                                    void** exchange) {
  State& state = *static_cast<State*>(self);
  try {
    if (*exchange == nullptr) return state.head_came(connection, path, method, exchange);
    Exchange& begun = *static_cast<Exchange*>(*exchange);
    if (*size == 0) return state.all_came(connection, begun);
    if (begun.body.size() + *size > state.options.body_bytes) return MHD_NO;  // Hangs up.
    begun.body.append(data, *size);
    *size = 0;
    return MHD_YES;
  } catch (const std::exception&) {  // No memory, most likely: this client goes, we stay.
    return MHD_NO;
  }
}

void HttpServer::State::completed(void* self, MHD_Connection* connection, void** exchange,
                                  MHD_RequestTerminationCode) {
  delete static_cast<Exchange*>(std::exchange(*exchange, nullptr));
  static_cast<State*>(self)->watch.begin(descriptor_of(connection));
}

void HttpServer::State::notified(void* self, MHD_Connection* connection, void**,
                                 MHD_ConnectionNotificationCode what) {
  Watch& watch = static_cast<State*>(self)->watch;
  if (what == MHD_CONNECTION_NOTIFY_STARTED)
    watch.opened(descriptor_of(connection));
  else
    watch.closed(descriptor_of(connection));
}

Result<void> HttpServer::State::begin() {
  // The daemon closes the descriptor that it is given.
  const int descriptor = ::fcntl(where.socket.get(), F_DUPFD_CLOEXEC, 0);
  daemon.reset(MHD_start_daemon(
      MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL, 0, nullptr, nullptr, &State::serve, this,
      MHD_OPTION_LISTEN_SOCKET, descriptor, MHD_OPTION_THREAD_POOL_SIZE, options.threads,
      MHD_OPTION_CONNECTION_LIMIT, options.connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
      options.header_bytes, MHD_OPTION_CONNECTION_TIMEOUT,
      static_cast<unsigned>(options.idle.count()), MHD_OPTION_STRICT_FOR_CLIENT, 1,
      MHD_OPTION_UNESCAPE_CALLBACK, &unescape, nullptr, MHD_OPTION_NOTIFY_COMPLETED,
      &State::completed, this, MHD_OPTION_NOTIFY_CONNECTION, &State::notified, this,
      MHD_OPTION_END));
  if (daemon) return {};
  ::close(descriptor);
  return Error{Code::kFailed, "the page's server cannot start",
               "Are there enough files and threads for this user (ulimit -n, -u)?"};
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpServer::HttpServer(HttpServer&&) noexcept = default;
HttpServer::~HttpServer() = default;

Result<HttpServer> HttpServer::start(const HttpOptions& options, HttpHandler handler) {
  PageSocket where = TRY(listen_for_pages(options.listen, options.hosts));
  auto state = std::make_unique<State>(options, std::move(handler), std::move(where));
  TRY(state->begin());
  return HttpServer(std::move(state));
}

const std::string& HttpServer::url() const { return state_->where.url; }

}  // namespace parley::net
