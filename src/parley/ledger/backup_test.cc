#include "parley/ledger/backup.h"

#include <cstdlib>

#include "parley/base/files.h"
#include "parley/ledger/ledger.h"
#include "support/ledgers.h"

namespace parley::ledger {
namespace backup_test {

namespace fs = std::filesystem;

TEST(Backup, OfStoredLedgersOfEveryFormatHasTheSameHead) {
  const char* set = std::getenv("PARLEY_SOURCE");
  const fs::path source = set != nullptr ? set : ".";
  const fs::path folder = test::fresh_folder();
  for (const char* name : {"ledger-format-1.db", "ledger-format-2.db"}) {
    const fs::path stored = source / "tests" / "golden" / name;
    const auto copied = back_up(stored, folder / name);
    ASSERT_TRUE(copied) << describe(copied.error());
    EXPECT_EQ(copied->head, verify(stored)->head);
    EXPECT_EQ(verify(folder / name)->rows, verify(stored)->rows);
    EXPECT_EQ(fs::status(folder / name).permissions(), fs::perms(0600));
    EXPECT_FALSE(back_up(stored, folder / name)) << "nothing is overwritten";
  }
  fs::remove_all(folder);
}

TEST(Backup, OfADamagedLedgerLeavesNothing) {
  const fs::path folder = test::fresh_folder();
  ASSERT_TRUE(write_file(folder / "ledger.db", "no ledger"));
  EXPECT_FALSE(back_up(folder / "ledger.db", folder / "copy.db"));
  EXPECT_FALSE(back_up(folder / "absent.db", folder / "copy.db"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
  fs::remove_all(folder);
}

struct RestoreTest : testing::Test {
  RestoreTest() { pay(1); }
  ~RestoreTest() override { fs::remove_all(folder); }
  void pay(uint32_t round) {
    test::StoppedClock clock;
    Ledger ledger = *Ledger::open(file, "bank-a", clock);
    const DatasetId loans = *ledger.declare("loans", test::pure_budget(2));
    ASSERT_TRUE(test::pay(ledger, loans, test::some_query("first", round)));
  }
  Error refused(const std::string& owner = "bank-a") {
    const Hash before = verify(file) ? verify(file)->head : Hash{};
    const auto restored = restore(copy, file, owner);
    EXPECT_FALSE(restored);
    if (before != Hash{}) {
      EXPECT_EQ(verify(file)->head, before) << "it was changed";
    }
    return restored ? Error{} : restored.error();
  }
  const fs::path folder = test::fresh_folder(), file = folder / "ledger.db", copy = folder / "copy";
};

TEST_F(RestoreTest, PutsACopyWhereNothingOrAnOlderLedgerLies) {
  const auto kept = back_up(file, folder / "older");
  pay(2);
  const auto made = back_up(file, copy);
  ASSERT_TRUE(kept && made);
  fs::remove(file);
  for (const char* before : {"", "older"}) {
    if (*before != 0) fs::copy_file(folder / before, file, fs::copy_options::overwrite_existing);
    const auto restored = restore(copy, file, "bank-a");
    ASSERT_TRUE(restored) << describe(restored.error());
    EXPECT_EQ(restored->head, made->head);
    EXPECT_EQ(verify(file)->head, made->head);
    EXPECT_EQ(fs::status(file).permissions(), fs::perms(0600));
  }
  ASSERT_TRUE(restore(copy, file, "bank-a")) << "the same again";
  pay(3);
  EXPECT_EQ(verify(file)->rows, made->rows + 1);
}

TEST_F(RestoreTest, ReplacesNothingThatMayBeNewer) {
  ASSERT_TRUE(back_up(file, copy));
  EXPECT_NE(refused("bank-b").what.find("is the ledger of bank-a"), std::string::npos);
  pay(2);
  EXPECT_NE(refused().what.find("has rows that the copy has not"), std::string::npos);
  fs::remove(file);
  pay(1);  // Another ledger, as long as the copy.
  EXPECT_NE(refused().what.find("another ledger"), std::string::npos);
  ASSERT_TRUE(write_file(file, "no ledger"));
  EXPECT_NE(refused().what.find("cannot be read"), std::string::npos);
  EXPECT_EQ(*read_file(file), "no ledger");
  fs::remove(file);
  ASSERT_TRUE(write_file(file.string() + "-wal", "rows that were not moved yet"));
  EXPECT_NE(refused().what.find("a part of it is left"), std::string::npos);
}

TEST_F(RestoreTest, WaitsForTheOneWriter) {
  ASSERT_TRUE(back_up(file, copy));
  test::StoppedClock clock;
  const auto writer = Ledger::open(file, "bank-a", clock);
  ASSERT_TRUE(writer);
  EXPECT_NE(refused().what.find("in use by another process"), std::string::npos);
}

}  // namespace backup_test
}  // namespace parley::ledger
