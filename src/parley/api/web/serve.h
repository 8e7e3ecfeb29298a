// Pages in a browser, from the link in the terminal to the end of the program.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "parley/base/result.h"
#include "parley/net/web/site.h"

namespace parley::api {

struct PageOptions {
  std::string listen = "127.0.0.1:0";  // host:port, or unix:PATH
  std::vector<std::string> hosts{};    // further names of this server
  std::string person_header{};         // of a proxy on the Unix socket; empty: links
  std::string person{};                // who reads the terminal
  std::function<void(const std::string& link)> show{};
};

/// Serves `routes`, and beside them style, script and icon, until `stop` is set.
Result<void> serve_pages(const PageOptions& options, std::vector<net::Route> routes,
                         const std::atomic<bool>& stop);

}  // namespace parley::api
