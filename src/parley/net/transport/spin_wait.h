// A spin wait: polls for a moment before it sleeps.
#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>

namespace parley::net {

/// Once something has come, more may follow at once, and a thread that sleeps takes tens of
/// microseconds to wake up, in which a round of a small model is half done. So it first looks for a
/// moment, letting others run in between, and sleeps only then; after a wait in vain, at once.
class SpinWait {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds kMoment{300};

  /// `look(milliseconds)` waits so long at most and says whether something is there. False if
  /// nothing was until then.
  template <class Look>
  bool wait(Look look, Clock::time_point until) {
    bool found = false;
    const auto began = Clock::now();
    const auto end = std::min(began + kMoment, until);
    for (auto now = began; awake_ && !found && now < end; now = Clock::now()) {
      found = look(0);
      if (!found) ::sched_yield();
    }
    if (!found) found = look(left_ms(until));
    return awake_ = found;
  }

 private:
  /// Rounded up, so that nobody looks again and again in the last millisecond.
  static int left_ms(Clock::time_point until) {
    constexpr std::chrono::hours kLong{1};  // Whoever waits longer may look in between.
    const auto left = std::clamp<Clock::duration>(until - Clock::now(), Clock::duration(0), kLong);
    return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
  }
  bool awake_ = false;
};

}  // namespace parley::net
