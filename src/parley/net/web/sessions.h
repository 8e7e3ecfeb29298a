// Who may see the pages: whoever opened a link that was printed in the terminal and works once, or
// whom a proxy on our Unix socket has named.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/entropy.h"

namespace parley::net {

struct Session {
  std::string cookie{};  // what the browser brings; secret
  std::string token{};   // what every form of the session carries; secret
  std::string person{};
};

/// For use by several threads at once.
class Sessions {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::hours kLifetime{12};
  static constexpr size_t kMost = 16;  // sessions; the oldest gives way

  /// `person` is who reads the terminal, and so whoever has the link.
  explicit Sessions(std::string person) : person_(std::move(person)) {}

  /// A new key for a link; the one before, if nobody has used it, is void.
  std::string new_key();
  /// Uses the key up.
  std::optional<Session> enter(std::string_view key, Time now);
  std::optional<Session> find(std::string_view cookie, Time now);
  void leave(std::string_view cookie);
  /// Of a person whom the proxy names.
  Session named(const std::string& person);

 private:
  struct Open {
    Session session;
    Time began;
  };
  std::string secret();
  void drop_old(Time now);

  std::string person_;
  std::mutex mutex_{};
  SystemEntropy entropy_{};
  std::string key_{};  // empty: none waits
  std::vector<Open> open_{};
  std::map<std::string, Session> named_{};
};

/// Takes the same time wherever they differ.
bool same_secret(std::string_view a, std::string_view b);

}  // namespace parley::net
