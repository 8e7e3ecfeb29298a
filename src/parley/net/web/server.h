// A small HTTP/1.1 server for pages and figures of our own: loopback or a Unix socket, few routes,
// limits on everything that a client can make larger. It knows nothing of what it serves.
// libmicrohttpd reads and writes; what it lacks (a limit on the whole time of a request, the check
// of the Host header) is here.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parley/base/result.h"
#include "parley/net/web/http.h"

namespace parley::net {

struct HttpOptions {
  /// host:port, port 0 for a free one; or unix:PATH, a socket that only its user (and group) may
  /// open.
  std::string listen = "127.0.0.1:0";
  /// Further names under which browsers reach this server, without port: behind a proxy, or on an
  /// address that is not loopback, which is refused without one.
  std::vector<std::string> hosts{};

  unsigned connections = 512;        // at once; above, newcomers wait
  unsigned threads = 4;              // that call the handler at once
  size_t header_bytes = 32 << 10;    // of one request, its first line included
  size_t body_bytes = 64 << 10;      // of one request
  std::chrono::seconds idle{10};     // without a byte
  std::chrono::seconds request{30};  // for a whole request and its answer, the handler's time apart
};

/// Called from several threads at once.
using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

class HttpServer {
 public:
  /// Answers until it is destroyed.
  static Result<HttpServer> start(const HttpOptions& options, HttpHandler handler);
  HttpServer(HttpServer&&) noexcept;
  HttpServer& operator=(HttpServer&&) = delete;
  ~HttpServer();

  /// http://127.0.0.1:8080, without a slash at the end; of a Unix socket http://localhost.
  const std::string& url() const;

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace parley::net
