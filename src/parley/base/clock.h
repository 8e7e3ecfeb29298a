// The time of day, as an argument: a simulated run does not read the machine's clock.
#pragma once

#include <cstdint>
#include <string>

namespace parley {

/// RFC 3339, UTC: 2026-11-15T08:00:00Z.
std::string time_text(int64_t unix_seconds);

class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t unix_seconds() = 0;

  std::string now() { return time_text(unix_seconds()); }
};

class SystemClock final : public Clock {
 public:
  int64_t unix_seconds() override;
};

}  // namespace parley
