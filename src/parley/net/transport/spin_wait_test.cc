#include "parley/net/transport/spin_wait.h"

#include <grpcpp/alarm.h>
#include <gtest/gtest.h>

namespace parley::net {
namespace lookout_test {

using Clock = std::chrono::system_clock;
using Queue = grpc::CompletionQueue;

TEST(SpinWait, BringsWhatComesAtOnceAndLaterAndSaysWhenNothingDoes) {
  Queue queue;
  SpinWait spin_wait;
  void* tag = nullptr;
  bool ok = false;
  const auto next = [&](std::chrono::milliseconds patience) {
    tag = nullptr;
    return spin_wait.next(queue, &tag, &ok, Clock::now() + patience);
  };
  const auto hour = std::chrono::hours(1);
  int first = 0, second = 0, third = 0;
  grpc::Alarm now, soon, later;
  now.Set(&queue, Clock::now(), &first);
  EXPECT_EQ(next(hour), Queue::GOT_EVENT);  // From sleep.
  EXPECT_EQ(tag, &first);
  EXPECT_TRUE(ok);
  soon.Set(&queue, Clock::now(), &second);
  EXPECT_EQ(next(hour), Queue::GOT_EVENT);  // Still awake.
  EXPECT_EQ(tag, &second);
  later.Set(&queue, Clock::now() + 30 * SpinWait::kMoment, &third);
  EXPECT_EQ(next(hour), Queue::GOT_EVENT);  // It fell asleep over it.
  EXPECT_EQ(tag, &third);
  for (int i = 0; i < 2; ++i) {  // Awake, then not.
    const auto began = Clock::now();
    EXPECT_EQ(next(std::chrono::milliseconds(20)), Queue::TIMEOUT);
    EXPECT_GE(Clock::now() - began, std::chrono::milliseconds(10));
  }
  queue.Shutdown();
  EXPECT_EQ(next(hour), Queue::SHUTDOWN);
}

}  // namespace lookout_test
}  // namespace parley::net
