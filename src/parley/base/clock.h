// The time of day, as an argument: a simulated run does not read the machine's clock.
#pragma once

#include <cstdint>
#include <string>

namespace parley {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t unix_seconds() = 0;

  /// RFC 3339, UTC: 2026-11-15T08:00:00Z.
  std::string now();
};

class SystemClock final : public Clock {
 public:
  int64_t unix_seconds() override;
};

}  // namespace parley
