#include "parley/net/transport/sparse_log.h"

#include <gtest/gtest.h>

#include <vector>

namespace parley::net {
namespace sparse_log_test {

struct Door {
  std::vector<std::string> lines{};
  SparseLog log{[this](const std::string& line) { lines.push_back(line); }};
  SparseLog::Moment now{};

  void later(int milliseconds) {
    now += std::chrono::milliseconds(milliseconds);
    log.tell(now);
  }
};

TEST(SparseLog, EveryKindIsSaidAtOnceAndThenOnceASecondWithACount) {
  Door door;
  for (int i = 0; i < 500; ++i)
    door.log.say("no certificate", {log::kRefused, "refused a stranger: no certificate"}, door.now);
  door.log.say("no TLS", {log::kRefused, "refused another: no TLS"}, door.now);
  ASSERT_EQ(door.lines.size(), 2u);
  EXPECT_EQ(door.lines[0], "refused a stranger: no certificate");
  EXPECT_EQ(door.lines[1], "refused another: no TLS");
  door.later(900);
  EXPECT_EQ(door.lines.size(), 2u);
  door.later(200);
  ASSERT_EQ(door.lines.size(), 3u);
  EXPECT_EQ(door.lines[2],
            "refused a stranger: no certificate, and so 499 in all since the last line");
  door.log.say("no certificate", {log::kRefused, "refused a stranger: no certificate"}, door.now);
  EXPECT_EQ(door.lines.size(), 3u) << "not in the same second again";
  door.later(5000), door.later(5000);
  EXPECT_EQ(door.lines.size(), 4u);
  door.log.say("no certificate", {log::kRefused, "refused a stranger: no certificate"}, door.now);
  EXPECT_EQ(door.lines.size(), 5u) << "after a pause at once";
}

TEST(SparseLog, WhoeverInventsKindsDoesNotFillTheMemory) {
  Door door;
  for (int i = 0; i < 10'000; ++i)
    door.log.say("no call " + std::to_string(i), {log::kRefused, "no call " + std::to_string(i)},
                 door.now);
  EXPECT_EQ(door.lines.size(), 65u);
  door.later(1000);
  EXPECT_EQ(door.lines.back(), "no call 9999, and so 9935 in all since the last line");
}

}  // namespace sparse_log_test
}  // namespace parley::net
