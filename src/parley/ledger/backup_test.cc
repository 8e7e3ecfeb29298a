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

}  // namespace backup_test
}  // namespace parley::ledger
