#include "parley/base/clock.h"

#include <ctime>

namespace parley {

std::string time_text(int64_t unix_seconds) {
  const std::time_t seconds = unix_seconds;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  const size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return {text, length};
}

int64_t SystemClock::unix_seconds() { return std::time(nullptr); }

}  // namespace parley
