// What a log says of strangers: every refusal with its reason, but each reason at most once a
// second and then with a count, so that whoever knocks without end does not fill the disk.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace parley::net {

class Refusals {
 public:
  using Moment = std::chrono::steady_clock::time_point;
  explicit Refusals(std::function<void(const std::string& line)> log) : log_(std::move(log)) {}

  /// For use by any thread, as is the next.
  void add(const std::string& who, const std::string& reason,
           Moment now = std::chrono::steady_clock::now());
  /// Says what was held back for a second; to be called now and then.
  void tell(Moment now = std::chrono::steady_clock::now());

 private:
  struct Held {
    std::string last;  // who came last
    Moment said{};
    size_t more = 0;  // since then
  };
  void say(const std::string& reason, const Held& held);

  std::function<void(const std::string& line)> log_;
  std::mutex mutex_;
  std::map<std::string, Held> held_{};  // by reason
};

}  // namespace parley::net
