#include "parley/net/claims.h"

#include <pthread.h>
#include <sched.h>

#include <chrono>
#include <utility>

namespace parley::net {
namespace {

constexpr std::chrono::milliseconds kLook{20};

}  // namespace

Claims::~Claims() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Claims::add(protocol::Claim claim) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(
      std::move(claim));  // The thread looks by itself: waking it costs a round time.
}

std::optional<Error> Claims::forgery() {
  const std::lock_guard lock(mutex_);
  return forgery_;
}

Result<void> Claims::settle() {
  changed_.notify_all();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.empty() && !working_; });
  if (forgery_) return *forgery_;
  return {};
}

void Claims::work() {
  const sched_param lowest{};
  pthread_setschedparam(pthread_self(), SCHED_IDLE, &lowest);  // If not, it works all the same.
  for (std::unique_lock lock(mutex_); !over_;) {
    if (waiting_.empty()) changed_.wait_for(lock, kLook);
    const std::deque<protocol::Claim> claims = std::exchange(waiting_, {});
    working_ = true;
    lock.unlock();
    std::optional<Error> found;
    for (const protocol::Claim& claim : claims)
      if (const auto genuine = protocol::check_claim(claim); !genuine && !found)
        found = genuine.error();
    lock.lock();
    working_ = false;
    if (!forgery_) forgery_ = std::move(found);
    changed_.notify_all();
  }
}

}  // namespace parley::net
