// Checks the signatures of answers in a thread of its own, so that no round waits for them.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "parley/protocol/sync.h"

namespace parley::net {

class Claims {
 public:
  Claims() : thread_([this] { work(); }) {}
  ~Claims();

  void add(protocol::Claim claim);
  /// The first forgery found so far.
  std::optional<Error> forgery();
  /// Waits until all are checked.
  Result<void> settle();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<protocol::Claim> waiting_;
  bool working_ = false, over_ = false;
  std::optional<Error> forgery_;
  std::thread thread_;  // Last: it uses all of the above.
};

}  // namespace parley::net
