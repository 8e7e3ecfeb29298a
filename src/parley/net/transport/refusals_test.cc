#include "parley/net/transport/refusals.h"

#include <gtest/gtest.h>

#include <vector>

namespace parley::net {
namespace refusals_test {

struct Door {
  std::vector<std::string> lines{};
  Refusals refusals{[this](const std::string& line) { lines.push_back(line); }};
  Refusals::Moment now{};

  void later(int milliseconds) {
    now += std::chrono::milliseconds(milliseconds);
    refusals.tell(now);
  }
};

TEST(Refusals, EveryReasonIsSaidAtOnceAndThenOnceASecondWithACount) {
  Door door;
  for (int i = 0; i < 500; ++i) door.refusals.add("a stranger", "no certificate", door.now);
  door.refusals.add("another", "no TLS", door.now);
  ASSERT_EQ(door.lines.size(), 2u);
  EXPECT_EQ(door.lines[0], "refused a stranger: no certificate");
  EXPECT_EQ(door.lines[1], "refused another: no TLS");
  door.later(900);
  EXPECT_EQ(door.lines.size(), 2u);
  door.later(200);
  ASSERT_EQ(door.lines.size(), 3u);
  EXPECT_EQ(door.lines[2],
            "refused a stranger: no certificate, and so 499 in all since the last line");
  door.refusals.add("a stranger", "no certificate", door.now);
  EXPECT_EQ(door.lines.size(), 3u) << "not in the same second again";
  door.later(5000), door.later(5000);
  EXPECT_EQ(door.lines.size(), 4u);
  door.refusals.add("a stranger", "no certificate", door.now);
  EXPECT_EQ(door.lines.size(), 5u) << "after a pause at once";
}

TEST(Refusals, WhoeverInventsReasonsDoesNotFillTheMemory) {
  Door door;
  for (int i = 0; i < 10'000; ++i)
    door.refusals.add("a stranger", "no call " + std::to_string(i), door.now);
  EXPECT_EQ(door.lines.size(), 65u);
  EXPECT_EQ(door.lines.back(), "refused a stranger: other reasons");
}

}  // namespace refusals_test
}  // namespace parley::net
