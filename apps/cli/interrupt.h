// Ctrl-C and SIGTERM as a flag that daemons look at, so that they end in order.
#pragma once

#include <atomic>
#include <csignal>
#include <cstdio>
#include <string>

#include "parley/base/clock.h"

namespace parley::cli {

inline std::atomic<bool> interrupted = false;

inline void heed_interrupts() {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { interrupted = true; });
}

/// One line of a daemon's log, with the time. It refers to nothing: gRPC's threads may still tell
/// of a stranger when the command has ended.
inline void log_line(const std::string& line) {
  SystemClock clock;
  std::fprintf(stderr, "%s %s\n", clock.now().c_str(), line.c_str());
}

}  // namespace parley::cli
