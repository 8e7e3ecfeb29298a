// A request and its response, as a page sees them: without sockets and without a library.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parley::net {

/// Names and values in the order in which they came. Names may repeat.
class Fields {
 public:
  void add(std::string name, std::string value) {
    all_.emplace_back(std::move(name), std::move(value));
  }
  /// The first of this name, or nothing.
  std::optional<std::string> get(std::string_view name) const;
  std::string text(std::string_view name) const { return get(name).value_or(""); }
  size_t count(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& all() const { return all_; }

 private:
  std::vector<std::pair<std::string, std::string>> all_{};
};

/// a=1&b=two+words%21 in parts; nothing where an escape is broken, a NUL is hidden in it, or there
/// are more than `most` parts.
std::optional<Fields> parse_form(std::string_view body, size_t most = 2000);

struct HttpRequest {
  std::string method{}, path{};
  Fields query{}, form{};
  Fields headers{};          // names in lower case
  bool over_socket = false;  // came through a Unix socket, whose file says who may
};

struct HttpResponse {
  int status = 200;
  std::string body{};
  std::string type = "text/html; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> headers{};  // further ones
};

HttpResponse see_other(const std::string& path);

}  // namespace parley::net
