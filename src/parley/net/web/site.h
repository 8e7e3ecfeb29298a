// Pages behind a sign-in: a list of routes, each answered for a person who is signed in. Every form
// is checked (its token) before it is read. The contents of the pages come from the callers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "parley/net/web/http.h"
#include "parley/net/web/sessions.h"

namespace parley::net {

/// A request of a person who may see the page.
struct Visit {
  const HttpRequest& request;
  std::string person;
  std::string token;  // to be put into every form, as the field "token"
};

struct Route {
  std::string method, path;  // "GET" answers HEAD as well; the path is compared as a whole
  std::function<HttpResponse(const Visit&)> answer{};
  bool open = false;  // for everybody: files that say nothing, such as the style
};

struct SiteOptions {
  std::string person{};         // who reads the terminal
  std::string person_header{};  // in which a proxy on our Unix socket names the person; empty: none
  /// A page of a title and a sentence.
  std::function<std::string(const std::string& title, const std::string& sentence)> page{};
  std::function<void()> link_used{};  // it is time for another one
};

/// For use by several threads at once.
class Site {
 public:
  Site(SiteOptions options, std::vector<Route> routes);

  /// What HttpServer calls.
  HttpResponse answer(const HttpRequest& request);
  /// A path that signs in once: /enter?key=...
  std::string new_link() { return "/enter?key=" + sessions_.new_key(); }

 private:
  HttpResponse enter(const HttpRequest& request);
  HttpResponse leave(const HttpRequest& request);
  std::optional<Session> session_of(const HttpRequest& request);
  /// Why a form is not taken, or nothing.
  std::string wrong_form(const HttpRequest& request, const Session& session) const;
  HttpResponse inside(const HttpRequest& request);
  HttpResponse say(int status, const std::string& title, const std::string& sentence) const;
  std::string cookie_of(const HttpRequest& request) const;
  HttpResponse& set_cookie(HttpResponse& response, const std::string& value,
                           std::chrono::seconds lifetime) const;

  SiteOptions options_;
  std::vector<Route> routes_;
  Sessions sessions_;
  std::string cookie_;  // its name: cookies know no ports, and this machine may have several pages
};

}  // namespace parley::net
