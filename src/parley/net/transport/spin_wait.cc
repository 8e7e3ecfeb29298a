#include "parley/net/transport/spin_wait.h"

#include <sched.h>

namespace parley::net {

SpinWait::Status SpinWait::next(grpc::CompletionQueue& queue, void** tag, bool* ok,
                                std::chrono::system_clock::time_point until) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::system_clock::time_point kNow{};  // Long past: nothing is waited for.
  Status status = grpc::CompletionQueue::TIMEOUT;
  const auto end = Clock::now() + kMoment;
  while (awake_ && status == grpc::CompletionQueue::TIMEOUT && Clock::now() < end) {
    status = queue.AsyncNext(tag, ok, kNow);
    if (status == grpc::CompletionQueue::TIMEOUT) ::sched_yield();
  }
  if (status == grpc::CompletionQueue::TIMEOUT) status = queue.AsyncNext(tag, ok, until);
  awake_ = status == grpc::CompletionQueue::GOT_EVENT;
  return status;
}

}  // namespace parley::net
