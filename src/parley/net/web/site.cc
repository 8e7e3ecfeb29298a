#include "parley/net/web/site.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "parley/base/printable.h"

namespace parley::net {
namespace {

using Steady = std::chrono::steady_clock;

/// Nothing from elsewhere, nothing inline, no frame around it, nothing kept by the browser.
void add_guards(HttpResponse& response) {
  for (const auto& [name, value] : {
           std::pair("Content-Security-Policy",
                     "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
                     "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri "
                     "'none'"),
           std::pair("X-Content-Type-Options", "nosniff"),
           std::pair("X-Frame-Options", "DENY"),
           std::pair("Referrer-Policy", "same-origin"),  // Without any, forms have no origin.
           std::pair("Cross-Origin-Opener-Policy", "same-origin"),
           std::pair("Cross-Origin-Resource-Policy", "same-origin"),
           std::pair("Cache-Control", "no-store"),
       })
    response.headers.emplace_back(name, value);
}

/// The ledger's rows have it as one word.
bool is_name(const std::string& person) {
  return !person.empty() && person.size() <= 100 && person.find(' ') == std::string::npos &&
         printable(person) == person;
}

bool is_form(const HttpRequest& request) {
  const std::string type = request.headers.text("content-type");
  return type.substr(0, type.find(';')) == "application/x-www-form-urlencoded";
}

/// As the browser says it, which a page from elsewhere cannot change.
bool from_this_site(const HttpRequest& request) {
  const auto site = request.headers.get("sec-fetch-site");
  if (site && *site != "same-origin") return false;
  const auto origin = request.headers.get("origin");
  const std::string host = request.headers.text("host");
  return !origin || *origin == "http://" + host ||
         (request.over_socket && *origin == "https://" + host);
}

}  // namespace

Site::Site(SiteOptions options, std::vector<Route> routes)
    : options_(std::move(options)), routes_(std::move(routes)), sessions_(options_.person) {
  cookie_ = "parley-" + sessions_.new_key().substr(0, 8);
}

HttpResponse Site::say(int status, const std::string& title, const std::string& sentence) const {
  return {.status = status, .body = options_.page(title, sentence)};
}

/// Of this name in "a=1; parley=...".
std::string Site::cookie_of(const HttpRequest& request) const {
  const std::string all = request.headers.text("cookie");
  for (std::string_view left = all; !left.empty();) {
    std::string_view part = left.substr(0, left.find(';'));
    left.remove_prefix(std::min(part.size() + 1, left.size()));
    while (part.starts_with(' ')) part.remove_prefix(1);
    const size_t equals = part.find('=');
    if (equals != std::string_view::npos && part.substr(0, equals) == cookie_)
      return std::string(part.substr(equals + 1));
  }
  return "";
}

HttpResponse& Site::set_cookie(HttpResponse& response, const std::string& value,
                               std::chrono::seconds lifetime) const {
  response.headers.emplace_back("Set-Cookie", cookie_ + "=" + value +
                                                  "; Path=/; HttpOnly; SameSite=Strict; Max-Age=" +
                                                  std::to_string(lifetime.count()));
  return response;
}

std::optional<Session> Site::session_of(const HttpRequest& request) {
  if (!options_.person_header.empty()) {
    if (!request.over_socket || request.headers.count(options_.person_header) != 1)
      return std::nullopt;
    const std::string person = request.headers.text(options_.person_header);
    return is_name(person) ? std::optional(sessions_.named(person)) : std::nullopt;
  }
  return sessions_.find(cookie_of(request), Steady::now());
}

HttpResponse Site::enter(const HttpRequest& request) {
  const auto session = sessions_.enter(request.query.text("key"), Steady::now());
  if (!session)
    return say(403, "This link works no more",
               "A link works once. The terminal in which the page was started shows the next one.");
  if (options_.link_used) options_.link_used();
  HttpResponse response = see_other("/");
  return set_cookie(response, session->cookie, Sessions::kLifetime);
}

HttpResponse Site::leave(const HttpRequest& request) {
  sessions_.leave(cookie_of(request));
  HttpResponse response = say(200, "You have left",
                              "This browser can see nothing here any more. The terminal in which "
                              "the page was started shows a link to come back.");
  return set_cookie(response, "", std::chrono::seconds(0));
}

std::string Site::wrong_form(const HttpRequest& request, const Session& session) const {
  if (!is_form(request)) return "This is not a form of this page.";
  if (!from_this_site(request)) return "The request came from another site.";
  if (!same_secret(request.form.text("token"), session.token))
    return "The page is older than your sign-in, or the request is not yours. Open the page again.";
  return "";
}

HttpResponse Site::inside(const HttpRequest& request) {
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  const auto route = std::find_if(routes_.begin(), routes_.end(), [&](const Route& each) {
    return each.method == method && each.path == request.path;
  });
  if (route != routes_.end() && route->open) return route->answer({request, "", ""});
  if (method == "GET" && request.path == "/enter" && options_.person_header.empty())
    return enter(request);
  const auto session = session_of(request);
  if (!session)
    return say(401, "Please come through the door",
               options_.person_header.empty()
                   ? "This page opens with the link that is shown in the terminal in which it was "
                     "started."
                   : "The proxy in front of this page did not say who you are.");
  if (method == "POST")
    if (const std::string wrong = wrong_form(request, *session); !wrong.empty())
      return say(403, "Nothing was done", wrong);
  if (method == "POST" && request.path == "/leave") return leave(request);
  if (route == routes_.end())
    return say(404, "There is no such page", "Perhaps it was here before.");
  return route->answer({request, session->person, session->token});
}

HttpResponse Site::answer(const HttpRequest& request) {
  HttpResponse response = inside(request);
  add_guards(response);
  return response;
}

}  // namespace parley::net
