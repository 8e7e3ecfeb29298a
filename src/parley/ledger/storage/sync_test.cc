// Whether an answer is on the disk, and not only with the kernel, when it comes to exist. No crash
// of a process shows that; so the tests stand in for the call that waits for the disk.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "support/ledgers.h"

namespace {
std::atomic<int> waits = 0;  // for the disk
}

// What SQLite calls, because the program comes before its libraries.
extern "C" int fdatasync(int file) {
  ++waits;
  return static_cast<int>(syscall(SYS_fdatasync, file));
}
extern "C" int fsync(int file) {
  ++waits;
  return static_cast<int>(syscall(SYS_fsync, file));
}

namespace parley::ledger {
namespace {

TEST(LedgerSync, EveryAnswerIsOnTheDiskBeforeItExists) {
  test::StoppedClock clock;
  auto ledger = *Ledger::open(test::fresh_folder() / "ledger.db", "bank", clock);
  int before = waits;
  const DatasetId loans = *ledger.declare("loans", test::pure_budget(8));
  EXPECT_GT(waits, before) << "a budget is a promise, too";
  for (uint32_t round = 1; round <= 5; ++round) {
    before = waits;
    ASSERT_TRUE(test::pay(ledger, loans, test::some_query("job", round)));
    EXPECT_GT(waits, before);
  }
  before = waits;
  ASSERT_TRUE(test::pay(ledger, loans, test::some_query("job", 5)));
  EXPECT_EQ(waits, before) << "what is replayed is on the disk already";
}

}  // namespace
}  // namespace parley::ledger
