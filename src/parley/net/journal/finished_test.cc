#include "parley/net/journal/finished.h"

#include <gtest/gtest.h>

#include "parley/base/files.h"
#include "support/ledgers.h"

namespace parley::net {
namespace finished_test {

TEST(FinishedJobs, AreKnownAgainAndDamagedLinesArePassedOver) {
  const auto folder = test::fresh_folder();
  const auto file = folder / "finished";
  const Hash one = sha256(as_bytes("one")), two = sha256(as_bytes("two"));
  FinishedJobs first(file);
  EXPECT_FALSE(first.has(one)) << "no file";
  ASSERT_TRUE(first.add(one));
  ASSERT_TRUE(first.add(one));
  EXPECT_EQ(*read_file(file), to_hex(one) + "\n") << "once";
  ASSERT_TRUE(append_to_file(file, "not a hash\n" + to_hex(two) + "\n"));
  const FinishedJobs again(file);
  EXPECT_TRUE(again.has(one) && again.has(two));
  std::filesystem::remove_all(folder);
}

}  // namespace finished_test
}  // namespace parley::net
