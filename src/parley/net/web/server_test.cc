// The server on a real socket. The long attacks are in tests/end_to_end/web.py.
#include "parley/net/web/server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "parley/net/transport/socket.h"
#include "parley/net/web/listen.h"

namespace parley::net::web_server_test {
namespace {

std::string talk(int descriptor, const std::string& bytes) {
  EXPECT_EQ(::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
  std::string answer;
  char piece[4096];
  const Deadline deadline(10'000);
  while (wait_for(descriptor, 1 /* POLLIN */, deadline)) {
    const ssize_t size = ::recv(descriptor, piece, sizeof piece, 0);
    if (size <= 0) break;
    answer.append(piece, static_cast<size_t>(size));
  }
  return answer;
}

std::string ask(const HttpServer& server, const std::string& bytes) {
  const auto socket = connect_to(server.url().substr(std::strlen("http://")), Deadline(5000));
  return socket ? talk(socket->get(), bytes) : "no connection";
}

HttpResponse echo(const HttpRequest& request) {
  return {.body = request.method + " " + request.path + " " + request.query.text("q") + " " +
                  request.form.text("f"),
          .headers = {{"X-Made-By", "echo"}}};
}

HttpServer started(const HttpOptions& options = {}) { return *HttpServer::start(options, echo); }

constexpr const char* kHost = "Host: 127.0.0.1\r\nConnection: close\r\n";

TEST(WebServer, HandsOverWhatWasAsked) {
  const HttpServer server = started();
  const std::string got =
      ask(server, std::string("GET /a%20b?q=1%2B1 HTTP/1.1\r\n") + kHost + "\r\n");
  EXPECT_TRUE(got.starts_with("HTTP/1.1 200")) << got;
  EXPECT_TRUE(got.ends_with("GET /a b 1+1 ")) << got;
  EXPECT_NE(got.find("X-Made-By: echo"), std::string::npos);
  const std::string cut = ask(server, std::string("GET /a%00b HTTP/1.1\r\n") + kHost + "\r\n");
  EXPECT_TRUE(cut.ends_with("GET /a%00b  ")) << cut;
  const std::string posted =
      ask(server, std::string("POST /p HTTP/1.1\r\n") + kHost + "Content-Length: 5\r\n\r\nf=a+b");
  EXPECT_TRUE(posted.ends_with("POST /p  a b")) << posted;
}

TEST(WebServer, AnswersUnderItsOwnNamesOnly) {
  const HttpServer server = started({.hosts = {"parley.example"}});
  const auto status = [&](const std::string& headers) {
    return ask(server, "GET / HTTP/1.1\r\nConnection: close\r\n" + headers + "\r\n").substr(9, 3);
  };
  EXPECT_EQ(status("Host: localhost:99\r\n"), "200");
  EXPECT_EQ(status("Host: parley.example\r\n"), "200");
  EXPECT_EQ(status("Host: evil.example\r\n"), "421");
  EXPECT_EQ(status("Host: 127.0.0.1.evil.example\r\n"), "421");
  EXPECT_EQ(status("Host: localhost\r\nHost: evil.example\r\n"), "421");
  EXPECT_EQ(status(""), "400");
}

TEST(WebServer, RefusesOtherMethodsAndLongBodies) {
  const HttpServer server = started({.body_bytes = 10});
  const auto status = [&](const std::string& line, const std::string& rest) {
    return ask(server, line + " / HTTP/1.1\r\n" + kHost + rest).substr(9, 3);
  };
  EXPECT_EQ(status("DELETE", "\r\n"), "405");
  EXPECT_EQ(status("POST", "Content-Length: 10\r\n\r\nf=12345678"), "200");
  EXPECT_EQ(status("POST", "Content-Length: 11\r\n\r\nf=123456789"), "413");
  EXPECT_EQ(status("POST", "Content-Length: 99999999999\r\n\r\n"), "413");
  EXPECT_EQ(status("POST", "Content-Length: 4\r\n\r\nf=%2"), "400");
  EXPECT_EQ(ask(server, std::string("POST / HTTP/1.1\r\n") + kHost +
                            "Transfer-Encoding: chunked\r\n\r\nb\r\nf=123456789\r\n0\r\n\r\n"),
            "");
}

TEST(WebServer, DrippingBytesIsNoWayToStay) {
  const HttpServer server =
      started({.idle = std::chrono::seconds(60), .request = std::chrono::seconds(1)});
  EXPECT_EQ(ask(server, "GET / HTTP/1.1\r\nHost: "), "");  // Returns because the server hangs up.
}

TEST(WebServer, StaysOnThisMachineUnlessToldAName) {
  const auto refused = HttpServer::start({.listen = "0.0.0.0:0"}, echo);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInvalid);
  EXPECT_TRUE(HttpServer::start({.listen = "0.0.0.0:0", .hosts = {"parley.example"}}, echo));
}

TEST(WebServer, ASocketIsItsUsersOwn) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("parley-web-" + std::to_string(::getpid())))
          .string();
  {
    const HttpServer server = started({.listen = "unix:" + path});
    struct stat found{};
    ASSERT_EQ(::lstat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0660u);
    EXPECT_FALSE(HttpServer::start({.listen = "unix:" + path}, echo));  // Somebody listens there.
    sockaddr_un where{.sun_family = AF_UNIX, .sun_path = {}};
    std::memcpy(where.sun_path, path.data(), path.size());
    const Socket socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&where), sizeof where), 0);
    EXPECT_TRUE(talk(socket.get(), "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                    .starts_with("HTTP/1.1 200"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(WebServer, KnowsItsHosts) {
  for (const char* host :
       {"localhost", "LOCALHOST:1", "127.0.0.1:80", "127.9.9.9", "[::1]:80", "[::1]"})
    EXPECT_TRUE(host_allowed(host, {})) << host;
  for (const char* host :
       {"", ":80", "localhost.evil", "127.0.0.1.evil", "::1", "[::2]", "a.example"})
    EXPECT_FALSE(host_allowed(host, {})) << host;
  EXPECT_TRUE(host_allowed("a.example:443", {"A.example"}));
}

}  // namespace
}  // namespace parley::net::web_server_test
