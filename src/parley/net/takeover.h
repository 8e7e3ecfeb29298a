// Which of two streams of one owner stays, at a learner's door and at that of an owner with
// neighbours. The newest wins, for an older one may be a broken connection that nobody has noticed;
// but not over one that has just been heard, so that whoever else has the owner's key does not stop
// the job by coming again and again.
#pragma once

#include <chrono>
#include <optional>

#include "parley/base/result.h"

namespace parley::net {

inline constexpr std::chrono::milliseconds kTakeover{1'000};

/// Has the stream been heard within this time? Nothing: not since it opened.
inline bool is_at_work(const std::optional<std::chrono::steady_clock::time_point>& heard,
                       std::chrono::milliseconds takeover) {
  return heard && std::chrono::steady_clock::now() - *heard < takeover;
}

/// To the newcomer.
inline Error other_is_at_work() {
  return {Code::kUnavailable, "another stream of this owner is at work",
          "If it is not yours, somebody else has your key: have another certificate made."};
}

/// To the older stream.
inline Error newer_took_over() {
  return {Code::kUnavailable, "a newer stream of the same owner took over"};
}

}  // namespace parley::net
