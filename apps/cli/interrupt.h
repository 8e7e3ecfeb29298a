// Ctrl-C and SIGTERM as a flag that daemons look at, so that they end in order.
#pragma once

#include <atomic>
#include <csignal>

#include "parley/base/clock.h"

namespace parley::cli {

inline std::atomic<bool> interrupted = false;

inline void heed_interrupts() {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { interrupted = true; });
}

/// One line of a daemon's log, with the time.
inline void log_line(Clock& clock, const std::string& line) {
  std::fprintf(stderr, "%s %s\n", clock.now().c_str(), line.c_str());
}

}  // namespace parley::cli
