#include "parley/api/web/serve.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <thread>
#include <utility>

#include "parley/net/web/server.h"
#include "parley/report/page/web.h"

namespace parley::api {
namespace {

constexpr const char* kIcon =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\"><circle cx=\"6\" cy=\"8\" "
    "r=\"5\" fill=\"#04568c\"/><circle cx=\"11\" cy=\"8\" r=\"4\" fill=\"#d97706\"/></svg>";

net::Route file(const char* path, std::string content, const char* type) {
  return {"GET", path,
          [content = std::move(content), type](const net::Visit&) {
            return net::HttpResponse{.body = content, .type = type};
          },
          true};
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::vector<net::Route> with_files(std::vector<net::Route> routes) {
  routes.push_back(file("/style.css", report::web_style(), "text/css; charset=utf-8"));
  routes.push_back(file("/page.js", report::web_script(), "text/javascript; charset=utf-8"));
  routes.push_back(file("/icon.svg", kIcon, "image/svg+xml"));
  return routes;
}

}  // namespace

PageServer::PageServer(const PageOptions& options, std::vector<net::Route> routes)
    : options_(options),
      site_({.person = options.person,
             .person_header = lower(options.person_header),
             .page = report::web_notice,
             .link_used = [this] { show_link(); }},
            with_files(std::move(routes))) {}

void PageServer::show_link() {
  options_.show(url_ + (options_.person_header.empty() ? site_.new_link() : "/"));
}

Result<std::unique_ptr<PageServer>> PageServer::start(const PageOptions& options,
                                                      std::vector<net::Route> routes) {
  if (!options.person_header.empty() && !options.listen.starts_with("unix:"))
    return Error{Code::kInvalid, "a proxy may name people on a Unix socket only",
                 "Give --listen unix:PATH: whoever can open that file can be anybody."};
  std::unique_ptr<PageServer> pages(new PageServer(options, std::move(routes)));
  pages->server_.emplace(TRY(net::HttpServer::start(
      {.listen = options.listen, .hosts = options.hosts},
      [site = &pages->site_](const net::HttpRequest& request) { return site->answer(request); })));
  pages->url_ = pages->server_->url();
  pages->show_link();
  return pages;
}

Result<void> serve_pages(const PageOptions& options, std::vector<net::Route> routes,
                         const std::atomic<bool>& stop) {
  const auto pages = TRY(PageServer::start(options, std::move(routes)));
  while (!stop) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return {};
}

}  // namespace parley::api
