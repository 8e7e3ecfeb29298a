// Ledgers outlive programs: a file of every format that was ever written stays readable.
// tests/golden/ledger-format-1.db was made by the first version, ledger-format-2.db by the first
// that knew format 2; they are never made again.
#include <gtest/gtest.h>

#include "parley/ledger/events.h"
#include "parley/ledger/ledger.h"
#include "parley/ledger/read.h"
#include "parley/ledger/storage/sqlite.h"
#include "support/ledgers.h"

namespace parley::ledger {
namespace format_test {

using namespace test;
namespace fs = std::filesystem;

struct FormatTest : testing::Test {
  FormatTest() { take(1); }
  ~FormatTest() override { fs::remove_all(folder); }
  void take(int format) {
    const std::string name = "ledger-format-" + std::to_string(format) + ".db";
    fs::copy_file(fs::path(std::getenv("PARLEY_SOURCE")) / "tests/golden" / name, file,
                  fs::copy_options::overwrite_existing);
  }
  const fs::path folder = fresh_folder();
  const fs::path file = folder / "ledger.db";
  StoppedClock clock;
};

TEST_F(FormatTest, AFileOfFormat1IsWholeAndSaysWhatItSaid) {
  const auto verified = verify(file);
  ASSERT_TRUE(verified) << describe(verified.error());
  EXPECT_EQ(verified->rows, 9);
  EXPECT_EQ(to_hex(verified->head),
            "f6479f69c6c085b4923919fa6ed51529511bdd81cdc8fb8afda2a7c051180a2e");
  const Contents contents = *read(file);
  EXPECT_EQ(contents.owner, "bank-a");
  ASSERT_EQ(contents.datasets.size(), 2u);
  EXPECT_EQ(contents.datasets[0].budget, pure_budget(2));
  EXPECT_EQ(contents.datasets[0].unit, "") << "was not recorded then";
  EXPECT_DOUBLE_EQ(contents.datasets[0].spent.pure, 0.3);
  EXPECT_EQ(contents.datasets[1].spent.rho, 0.01);
  EXPECT_EQ(to_hex(sha256(contents.rows[3].answer)),
            "c4896306c912e1bc126b27355c8730a4bb4ea03b8837f2c5993128e1cca1697e");
}

TEST_F(FormatTest, ALedgerOfFormat1GoesOnReplaysWhatItAnsweredAndLearnsItsUnitOnce) {
  {
    Ledger ledger = *Ledger::open(file, "bank-a", clock);
    const DatasetId loans = *ledger.declare("loans", pure_budget(2), "member");
    const auto replayed = *ledger.stored(some_query("first", 2));
    ASSERT_TRUE(replayed);
    EXPECT_EQ(to_hex(sha256(parley::bytes_of(replayed->values()))),
              "975be5c1dc943c79713ff476db6c9125b40b11ebfcf0bf6ab7b22998d4f3fcc8");
    ASSERT_TRUE(pay(ledger, loans, some_query("first", 4)));
    Query count = some_query("first", 1);
    count.kind = privacy::ReleaseKind::kCount;
    const Bytes counted = bytes_of(*pay(ledger, loans, count));
    EXPECT_EQ(bytes_of(*pay(ledger, loans, count)), counted);
    EXPECT_FALSE(ledger.declare("loans", pure_budget(2), "record"));
  }
  EXPECT_EQ(verify(file)->rows, 12);
}

TEST_F(FormatTest, ALedgerOfFormat1StaysOneAndLearnsWhatFormat2Knows) {
  const Keeping keeping{.key = SigningKey::make(), .checkpoint_rows = 9};
  const DataSource loans_csv{.is = "csv loans.csv"};
  {
    Ledger ledger = *Ledger::open(file, "bank-a", clock, keeping);
    const DatasetId loans = *ledger.declare("loans", pure_budget(2), "record", loans_csv);
    EXPECT_FALSE(ledger.declare("credits", pure_budget(2), "record", loans_csv));
    ASSERT_TRUE(ledger.decide(
        loans, some_hash("first"),
        {.what = Decision::What::kWithdrawn, .by = "alice", .at = "today", .reason = "over"}));
  }
  Ledger ledger = *Ledger::open(file, "bank-a", clock, keeping);
  EXPECT_FALSE(pay(ledger, *ledger.find("loans"), some_query("first", 4)));
  EXPECT_TRUE(pay(ledger, *ledger.find("loans"), some_query("new", 1)));
  const auto verified = *verify(file);
  EXPECT_EQ(verified.format, 1);
  EXPECT_EQ(verified.checkpoints, 1);
  const Contents contents = *read(file);
  for (const Row& row : contents.rows) EXPECT_NE(row.kind, "checkpoint");
}

TEST_F(FormatTest, AFileOfFormat2IsWholeAndSaysWhatItSaid) {
  take(2);
  const auto verified = verify(file);
  ASSERT_TRUE(verified) << describe(verified.error());
  EXPECT_EQ(verified->rows, 10);
  EXPECT_EQ(verified->format, 2);
  EXPECT_EQ(verified->checkpoints, 1);
  EXPECT_EQ(to_hex(verified->head),
            "ec8cce540f36cc28a50851c144593a3fad8330dfde3b171482e4a9a5ebf330f9");
  const Contents contents = *read(file);
  EXPECT_EQ(contents.datasets[0].unit, "record");
  EXPECT_DOUBLE_EQ(contents.datasets[0].spent.pure, 0.3);
  EXPECT_EQ(contents.datasets[1].spent.rho, 0.01);
  EXPECT_EQ(contents.chain.decision(some_hash("first"))->what, Decision::What::kWithdrawn);
  EXPECT_EQ(contents.chain.decision(some_hash("second"))->reason, "too \"dear\"");
}

TEST_F(FormatTest, AFileOfFormat2OpensAtItsCheckpointAndGoesOn) {
  take(2);
  Hash seed;
  seed.fill(42);
  const Keeping keeping{.key = SigningKey::from_seed(seed)};
  const DataSource loans_csv{.is = "csv /data/loans.csv", .digests = {some_hash("rows")}};
  {
    Ledger ledger = *Ledger::open(file, "bank-a", clock, keeping);
    const DatasetId loans = *ledger.declare("loans", pure_budget(2), "record", loans_csv);
    EXPECT_FALSE(ledger.declare("credits", pure_budget(2), "record", loans_csv));
    EXPECT_FALSE(pay(ledger, loans, some_query("first", 4))) << "withdrawn";
    const auto replayed = *ledger.stored(some_query("first", 2));
    ASSERT_TRUE(replayed);
    EXPECT_EQ(to_hex(sha256(parley::bytes_of(replayed->values()))),
              "6933c1316af2621c2ac666438703c5af065ac4b2e1b9c253d3183fb3529eee00");
    ASSERT_TRUE(ledger.decide(loans, some_hash("first"), {.by = "alice", .at = "today"}));
    ASSERT_TRUE(pay(ledger, loans, some_query("first", 4)));
  }
  EXPECT_EQ(verify(file)->rows, 12);
}

TEST_F(FormatTest, ANewerFormatIsRefusedByNameAndLeftAsItIs) {
  ASSERT_TRUE(Connection::write(file)->run(
      "PRAGMA ignore_check_constraints = ON; UPDATE ledger SET format = 3"));
  for (const Error& error : {verify(file).error(), Ledger::open(file, "bank-a", clock).error()}) {
    EXPECT_EQ(error.code, Code::kIntegrity);
    EXPECT_EQ(error.what, "is a ledger of format 3; this program knows formats 1 and 2");
    EXPECT_EQ(error.hint, "Use the version of Parley that wrote it, or a newer one.");
  }
}

}  // namespace format_test
}  // namespace parley::ledger
