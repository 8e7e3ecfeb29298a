#include "parley/base/clock.h"

#include <gtest/gtest.h>

namespace parley {
namespace clock_test {

class Fixed final : public Clock {
 public:
  explicit Fixed(int64_t seconds) : seconds_(seconds) {}
  int64_t unix_seconds() override { return seconds_; }

 private:
  int64_t seconds_;
};

TEST(Clock, SpeaksRfc3339InUtc) {
  EXPECT_EQ(Fixed(0).now(), "1970-01-01T00:00:00Z");
  EXPECT_EQ(Fixed(951'782'400).now(), "2000-02-29T00:00:00Z");
  EXPECT_EQ(Fixed(1'794'729'600).now(), "2026-11-15T08:00:00Z");
}

}  // namespace clock_test
}  // namespace parley
