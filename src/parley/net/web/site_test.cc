// Every way into the pages that must stay shut. The requests are made by hand: what a browser would
// never send is sent here.
#include "parley/net/web/site.h"

#include <gtest/gtest.h>

namespace parley::net::site_test {
namespace {

struct Door {
  int asked_for_link = 0, done = 0;
  Site site;

  explicit Door(std::string person_header = "")
      : site({.person = "ada",
              .person_header = std::move(person_header),
              .page = [](const std::string& title, const std::string&) { return title; },
              .link_used = [this] { ++asked_for_link; }},
             {{"GET", "/",
               [](const Visit& v) { return HttpResponse{.body = v.person + " " + v.token}; }},
              {"POST", "/do",
               [this](const Visit&) {
                 ++done;
                 return see_other("/");
               }},
              {"GET", "/style.css", [](const Visit&) { return HttpResponse{.body = "css"}; },
               true}}) {}

  HttpResponse get(const std::string& path, const std::string& cookie = "") {
    HttpRequest request{.method = "GET", .path = path};
    const size_t ask = path.find('?');
    if (ask != std::string::npos) {
      request.path = path.substr(0, ask);
      request.query = *parse_form(path.substr(ask + 1));
    }
    request.headers.add("host", "127.0.0.1:80");
    if (!cookie.empty()) request.headers.add("cookie", cookie);
    return site.answer(request);
  }
};

std::string header(const HttpResponse& response, const std::string& name) {
  for (const auto& [key, value] : response.headers)
    if (key == name) return value;
  return "";
}

/// Signs in with a new link; "name=value" of the cookie.
std::string cookie_from(Door& door) {
  const HttpResponse entered = door.get(door.site.new_link());
  const std::string all = header(entered, "Set-Cookie");
  return all.substr(0, all.find(';'));
}

std::string token_of(Door& door, const std::string& cookie) {
  return door.get("/", cookie).body.substr(4);  // after "ada "
}

HttpRequest form(const std::string& path, const std::string& cookie, const std::string& token) {
  HttpRequest request{.method = "POST", .path = path};
  request.headers.add("host", "127.0.0.1:80");
  request.headers.add("cookie", cookie);
  request.headers.add("content-type", "application/x-www-form-urlencoded");
  request.headers.add("origin", "http://127.0.0.1:80");
  request.headers.add("sec-fetch-site", "same-origin");
  request.form.add("token", token);
  return request;
}

TEST(Site, OpensOnceForALink) {
  Door door;
  EXPECT_EQ(door.get("/").status, 401);
  const std::string link = door.site.new_link();
  const HttpResponse entered = door.get(link);
  EXPECT_EQ(entered.status, 303);
  EXPECT_EQ(door.asked_for_link, 1);
  const std::string cookie = header(entered, "Set-Cookie");
  EXPECT_NE(cookie.find("; HttpOnly; SameSite=Strict;"), std::string::npos) << cookie;
  EXPECT_EQ(door.get("/", "other=1; " + cookie.substr(0, cookie.find(';'))).body.substr(0, 4),
            "ada ");
  EXPECT_EQ(door.get(link).status, 403);
  EXPECT_EQ(door.asked_for_link, 1);
}

TEST(Site, ANewLinkVoidsTheOneBefore) {
  Door door;
  const std::string before = door.site.new_link();
  door.site.new_link();
  EXPECT_EQ(door.get(before).status, 403);
  EXPECT_EQ(door.get("/enter").status, 403);
  EXPECT_EQ(door.get("/enter?key=").status, 403);
}

TEST(Site, AStolenCookieIsWorthlessAfterLeaving) {
  Door door;
  const std::string cookie = cookie_from(door), other = cookie_from(door);
  EXPECT_EQ(door.site.answer(form("/leave", cookie, token_of(door, cookie))).status, 200);
  EXPECT_EQ(door.get("/", cookie).status, 401);
  EXPECT_EQ(door.get("/", other).status, 200);
}

TEST(Site, TakesItsOwnFormsOnly) {
  Door door;
  const std::string cookie = cookie_from(door), token = token_of(door, cookie);
  EXPECT_EQ(door.site.answer(form("/do", cookie, token)).status, 303);
  EXPECT_EQ(door.done, 1);

  EXPECT_EQ(door.site.answer(form("/do", cookie, "")).status, 403);
  EXPECT_EQ(door.site.answer(form("/do", cookie, token_of(door, cookie_from(door)))).status, 403);
  EXPECT_EQ(door.site.answer(form("/do", "", token)).status, 401);
  const auto with = [&](const std::string& name, const std::string& value) {
    HttpRequest request = form("/do", cookie, token), changed = request;
    changed.headers = Fields();
    for (const auto& [key, old] : request.headers.all())
      changed.headers.add(key, key == name ? value : old);
    return door.site.answer(changed).status;
  };
  EXPECT_EQ(with("origin", "http://evil.example"), 403);
  EXPECT_EQ(with("origin", "http://127.0.0.1:81"), 403);
  EXPECT_EQ(with("origin", "https://127.0.0.1:80"), 403);
  EXPECT_EQ(with("origin", "null"), 403);
  EXPECT_EQ(with("sec-fetch-site", "cross-site"), 403);
  EXPECT_EQ(with("sec-fetch-site", "same-site"), 403);
  EXPECT_EQ(with("content-type", "text/plain"), 403);
  EXPECT_EQ(with("content-type", "multipart/form-data"), 403);
  EXPECT_EQ(door.done, 1);
}

TEST(Site, AFormIsNoLink) {
  Door door;
  EXPECT_EQ(door.get("/do", cookie_from(door)).status, 404);
  EXPECT_EQ(door.done, 0);
}

TEST(Site, EveryAnswerIsGuarded) {
  Door door;
  for (const std::string path : {"/", "/enter?key=1", "/style.css", "/nothing"}) {
    const HttpResponse response = door.get(path);
    EXPECT_TRUE(header(response, "Content-Security-Policy").starts_with("default-src 'none'"));
    EXPECT_EQ(header(response, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(header(response, "Cache-Control"), "no-store");
  }
}

TEST(Site, AProxyNamesPeopleOnTheSocketOnly) {
  Door door("x-forwarded-user");
  HttpRequest request{.method = "GET", .path = "/"};
  request.headers.add("host", "localhost");
  request.headers.add("x-forwarded-user", "grace");
  EXPECT_EQ(door.site.answer(request).status, 401);
  request.over_socket = true;
  EXPECT_EQ(door.site.answer(request).body.substr(0, 6), "grace ");
  request.headers.add("x-forwarded-user", "ada");  // Who of the two?
  EXPECT_EQ(door.site.answer(request).status, 401);
  EXPECT_EQ(door.get(door.site.new_link()).status, 401);
  for (const char* name : {"", "two words", "line\nbreak", "\xff"}) {
    HttpRequest odd{.method = "GET", .path = "/", .over_socket = true};
    odd.headers.add("x-forwarded-user", name);
    EXPECT_EQ(door.site.answer(odd).status, 401) << name;
  }
}

TEST(Sessions, EndByThemselves) {
  Sessions sessions("ada");
  const Sessions::Time now{};
  const auto session = sessions.enter(sessions.new_key(), now);
  ASSERT_TRUE(session);
  EXPECT_TRUE(sessions.find(session->cookie, now + Sessions::kLifetime));
  EXPECT_FALSE(sessions.find(session->cookie, now + Sessions::kLifetime + std::chrono::seconds(1)));
}

TEST(Sessions, TheOldestGivesWay) {
  Sessions sessions("ada");
  const Sessions::Time now{};
  std::vector<std::string> cookies;
  for (size_t i = 0; i <= Sessions::kMost; ++i)
    cookies.push_back(sessions.enter(sessions.new_key(), now)->cookie);
  EXPECT_FALSE(sessions.find(cookies[0], now));
  EXPECT_TRUE(sessions.find(cookies[1], now));
}

}  // namespace
}  // namespace parley::net::site_test
