// Pages in a browser, with the links that open them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parley/base/result.h"
#include "parley/net/web/server.h"
#include "parley/net/web/site.h"

namespace parley::api {

struct PageOptions {
  std::string listen = "127.0.0.1:0";  // host:port, or unix:PATH
  std::vector<std::string> hosts{};    // further names of this server
  std::string person_header{};         // of a proxy on the Unix socket; empty: links
  std::string person{};                // whoever gets to see the link
  /// Called with the first link, and with the next whenever one was used; also from other threads.
  std::function<void(const std::string& link)> show{};
};

/// Serves `routes`, and beside them style, script and icon, until it is destroyed.
class PageServer {
 public:
  static Result<std::unique_ptr<PageServer>> start(const PageOptions& options,
                                                   std::vector<net::Route> routes);

 private:
  PageServer(const PageOptions& options, std::vector<net::Route> routes);
  void show_link();

  const PageOptions options_;
  net::Site site_;
  std::string url_{};
  std::optional<net::HttpServer> server_{};  // Last: it uses all of the above.
};

/// The same until `stop` is set.
Result<void> serve_pages(const PageOptions& options, std::vector<net::Route> routes,
                         const std::atomic<bool>& stop);

}  // namespace parley::api
