// What both ends of a connection share: the names of the calls, and how long silence may last.
#pragma once

#include <chrono>

#include "parley/net/control/log.h"

namespace parley::net {

/// An owner attends a learner's job, or talks to a neighbour where there is no learner.
inline constexpr char kAttend[] = "attend";
inline constexpr char kTalk[] = "talk";

/// Whoever has said nothing for this long says that it is there; a peer that acknowledges nothing,
/// or a learner of which nothing is heard, for the second time more has vanished.
inline constexpr std::chrono::milliseconds kKeepalive{20'000}, kKeepaliveTimeout{20'000};

}  // namespace parley::net
