// How a daemon waits for the next event of a gRPC queue. To sleep and be woken takes about as long
// as the work of a short round, so one who was not kept waiting last time looks a few times more
// before it sleeps. It gives way at every look: whoever has work goes first.
#pragma once

#include <grpcpp/completion_queue.h>
#include <sched.h>

#include <chrono>

namespace parley::net {

class Lookout {
 public:
  using Status = grpc::CompletionQueue::NextStatus;
  using Time = std::chrono::system_clock::time_point;

  explicit Lookout(std::chrono::microseconds moment) : moment_(moment) {}

  /// As queue.AsyncNext.
  Status next(grpc::CompletionQueue& queue, void** tag, bool* ok, Time until) {
    const auto start = Steady::now();
    const auto has_waited = [&](Steady::duration time) { return Steady::now() - start >= time; };
    Status status = Status::TIMEOUT;
    while (brief_ && status == Status::TIMEOUT && !has_waited(moment_)) {
      sched_yield();
      status = queue.AsyncNext(tag, ok, Time());
    }
    if (status == Status::TIMEOUT) status = queue.AsyncNext(tag, ok, until);
    brief_ = !has_waited(kBrief);
    return status;
  }

 private:
  using Steady = std::chrono::steady_clock;
  /// Between machines far from each other every wait is longer, and nobody looks in vain.
  static constexpr std::chrono::milliseconds kBrief{2};

  std::chrono::microseconds moment_;  // how long it looks
  bool brief_ = false;                // was the last wait
};

}  // namespace parley::net
