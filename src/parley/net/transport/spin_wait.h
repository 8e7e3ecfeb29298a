// Waits for what gRPC's queue brings next.
#pragma once

#include <grpcpp/completion_queue.h>

#include <chrono>

namespace parley::net {

/// Once something has come, more may follow at once, and a thread that sleeps takes tens of
/// microseconds to wake up, in which a round of a small model is half done. So it first looks for a
/// moment, letting others run in between, and sleeps only then; after a wait in vain, at once.
class SpinWait {
 public:
  static constexpr std::chrono::microseconds kMoment{300};

  using Status = grpc::CompletionQueue::NextStatus;
  Status next(grpc::CompletionQueue& queue, void** tag, bool* ok,
              std::chrono::system_clock::time_point until);

 private:
  bool awake_ = false;
};

}  // namespace parley::net
