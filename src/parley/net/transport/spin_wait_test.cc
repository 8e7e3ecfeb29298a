#include "parley/net/transport/spin_wait.h"

#include <gtest/gtest.h>

#include <vector>

namespace parley::net {
namespace spin_wait_test {

using namespace std::chrono_literals;
using Clock = SpinWait::Clock;

TEST(SpinWait, SleepsAtOnceAfterAWaitInVainAndOnlyAfterAMomentOtherwise) {
  SpinWait spin_wait;
  std::vector<int> patience;  // of every look
  int comes_at = 0;
  const auto wait = [&](std::chrono::milliseconds time) {
    patience.clear();
    const auto look = [&](int milliseconds) {
      patience.push_back(milliseconds);
      return comes_at > 0 && patience.size() >= size_t(comes_at);
    };
    return spin_wait.wait(look, Clock::now() + time);
  };
  comes_at = 1;
  EXPECT_TRUE(wait(1h));
  EXPECT_EQ(patience.size(), 1u);
  EXPECT_GT(patience[0], 1000) << "from sleep";
  comes_at = 2;
  EXPECT_TRUE(wait(1h));
  EXPECT_EQ(patience[0], 0) << "awake";
  comes_at = 0;
  EXPECT_FALSE(wait(20ms));
  EXPECT_EQ(patience[0], 0) << "still awake";
  EXPECT_GT(patience.back(), 0) << "it fell asleep over it";
  EXPECT_FALSE(wait(20ms));
  EXPECT_EQ(patience.size(), 1u) << "and sleeps";
  EXPECT_FALSE(wait(0ms));
  EXPECT_EQ(patience, std::vector<int>({0})) << "looks once where there is no time";
}

}  // namespace spin_wait_test
}  // namespace parley::net
