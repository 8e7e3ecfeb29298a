// Which of two streams of one owner stays, at a learner's server and at that of an owner with
// neighbours. The newer one wins, because the older one may be a broken connection that nobody has
// noticed; but it does not replace a stream that has just been heard, so that somebody else with
// the owner's key cannot stop the job by reconnecting again and again.
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
