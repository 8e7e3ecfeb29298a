// Rate limit of log lines that others can cause as often as they like: each kind at most once a
// second, then with a count, so that nobody can fill the disk.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>

#include "parley/net/control/log.h"

namespace parley::net {

class SparseLog {
 public:
  using Moment = std::chrono::steady_clock::time_point;
  /// A stranger may choose words that get into what a line is about: of more kinds than these, all
  /// further ones count as one.
  explicit SparseLog(Log log, size_t kinds_max = 64)
      : log_(std::move(log)), kinds_max_(kinds_max) {}

  /// Lines with the same `about` count as one kind. For use by any thread, as is the next.
  void say(const std::string& about, const LogLine& line,
           Moment now = std::chrono::steady_clock::now());
  /// Says what was held back for a second; to be called now and then.
  void tell(Moment now = std::chrono::steady_clock::now());

 private:
  struct Held {
    LogLine last;
    Moment said{};
    size_t more = 0;  // since then
  };
  void say(const Held& held);

  Log log_;
  size_t kinds_max_;
  std::mutex mutex_;
  std::map<std::string, Held> held_{};  // by what they are about
};

}  // namespace parley::net
