// Every change to a ledger that someone makes behind our back is found, and the first bad row
// named.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "parley/base/files.h"
#include "parley/ledger/ledger.h"
#include "parley/ledger/read.h"
#include "parley/ledger/storage/sqlite.h"
#include "support/ledgers.h"

namespace parley::ledger {
namespace verify_test {

using namespace test;
namespace fs = std::filesystem;

/// Two data sets, two charters, six rows: budget, budget, answer, answer, answer, answer.
struct VerifyTest : testing::Test {
  ~VerifyTest() override { std::filesystem::remove_all(folder); }
  void SetUp() override {
    Ledger ledger = *Ledger::open(file, "bank-a", clock);
    const DatasetId loans = *ledger.declare("loans", pure_budget(1));
    const DatasetId fraud = *ledger.declare("fraud", pure_budget(2));
    for (uint32_t round = 1; round <= 2; ++round) {
      ASSERT_TRUE(pay(ledger, loans, some_query("first", round)));
      ASSERT_TRUE(pay(ledger, fraud, some_query("second", round), 900));
    }
    head = ledger.head();
  }

  /// Runs `sql` on a copy as someone would who knows SQLite, and leaves the triggers in place.
  Result<Verified> after(const std::string& sql) {
    fs::copy_file(file, copy, fs::copy_options::overwrite_existing);
    auto db = Connection::write(copy);
    const std::string all =
        "PRAGMA synchronous=OFF; PRAGMA journal_mode=DELETE; PRAGMA ignore_check_constraints=ON;"
        "DROP TRIGGER charge_is_append_only; DROP TRIGGER charge_is_kept;" +
        sql +
        ";CREATE TRIGGER charge_is_append_only BEFORE UPDATE ON charge BEGIN SELECT RAISE(ABORT, "
        "'the ledger is append-only'); END;"
        "CREATE TRIGGER charge_is_kept BEFORE DELETE ON charge BEGIN SELECT RAISE(ABORT, "
        "'the ledger is append-only'); END";
    const auto ran = db->run(all.c_str());
    EXPECT_TRUE(ran) << sql << ": " << describe(ran.error());
    return verify(copy);
  }
  /// What verify names; "" if it finds nothing.
  std::string found(const std::string& sql) {
    const auto verified = after(sql);
    if (verified) return "";
    EXPECT_EQ(verified.error().code, Code::kIntegrity);
    EXPECT_EQ(verified.error().where.file, copy.string());
    EXPECT_FALSE(verified.error().hint.empty());
    return verified.error().where.key;
  }

  const fs::path folder = fresh_folder();
  const fs::path file = folder / "ledger.db", copy = folder / "copy.db";
  StoppedClock clock;
  Hash head{};
};

TEST_F(VerifyTest, AnUntouchedLedgerIsWhole) {
  const auto verified = after("SELECT 1");
  ASSERT_TRUE(verified) << describe(verified.error());
  EXPECT_EQ(verified->rows, 6);
  EXPECT_EQ(verified->head, head);
  EXPECT_EQ(verified->owner, "bank-a");
}

TEST_F(VerifyTest, TheSmallestChangeOfAnyColumnOfAnyRowIsFound) {
  const auto flip = [](const std::string& column) {  // the lowest bit of the last byte
    return column + " = CAST(substr(" + column + ", 1, length(" + column + ") - 1) || CASE hex(" +
           "substr(" + column + ", -1)) WHEN '00' THEN x'01' ELSE x'00' END AS BLOB)";
  };
  const std::string kChanges[] = {"at = at || ' '",
                                  "kind = 'B' || substr(kind, 2)",
                                  "kind = 'evaluation'",
                                  "dataset = 3 - dataset",
                                  flip("charter"),
                                  "round = round + 10",
                                  flip("query"),
                                  "event = replace(event, '{', '[')",
                                  "event = event || char(0)",
                                  "track = 'zcdp'",
                                  "cost = cost + 1e-17",
                                  "delta = 5e-324",
                                  "answer = CAST(answer || x'00' AS BLOB)",
                                  flip("previous"),
                                  "previous = x'00'",
                                  flip("hash")};
  for (int row = 1; row <= 6; ++row) {
    const std::string where = " WHERE id = " + std::to_string(row);
    for (const std::string& change : kChanges)
      EXPECT_EQ(found("UPDATE charge SET " + change + where), "row " + std::to_string(row))
          << change;
    if (row > 2) {
      EXPECT_EQ(found("UPDATE charge SET " + flip("answer") + where), "row " + std::to_string(row));
    }
    EXPECT_EQ(found("UPDATE charge SET id = id + 100" + where), "row " + std::to_string(row));
  }
}

TEST_F(VerifyTest, RowsThatAreRemovedAddedOrSwappedAreFound) {
  for (int row = 1; row <= 5; ++row)  // A chain cut at its end is whole: peers know its head.
    EXPECT_EQ(found("DELETE FROM charge WHERE id = " + std::to_string(row)),
              "row " + std::to_string(row));
  EXPECT_EQ(after("DELETE FROM charge WHERE id = 6")->rows, 5);
  EXPECT_NE(after("DELETE FROM charge WHERE id = 6")->head, head);
  EXPECT_EQ(found("DELETE FROM charge WHERE id = 3; UPDATE charge SET id = id - 1 WHERE id > 3"),
            "row 3");
  EXPECT_EQ(found("UPDATE charge SET id = 99 WHERE id = 4; UPDATE charge SET id = 4 WHERE id = 5;"
                  "UPDATE charge SET id = 5 WHERE id = 99"),
            "row 4");
  EXPECT_EQ(
      found("INSERT INTO charge SELECT 7, at, kind, dataset, charter, 3, query, event, track, "
            "cost, delta, answer, hash, randomblob(32) FROM charge WHERE id = 6"),
      "row 7");
}

TEST_F(VerifyTest, AChangedBudgetIsFound) {
  const std::string kChanges[] = {"name = 'Loans'",
                                  "epsilon = 1.5",
                                  "delta = 1e-9",
                                  "pure_max = 1.5",
                                  "pure_max = 1.0000000000000002",
                                  "rho_max = 0.1",
                                  "delta_convert = 1e-300",
                                  "delta_extra = 5e-324"};
  for (const std::string& change : kChanges)
    EXPECT_EQ(found("UPDATE dataset SET " + change + " WHERE id = 1"), "data set 1") << change;
  EXPECT_EQ(found("UPDATE dataset SET pure_max = 0.15 WHERE id = 1"), "data set 1");
  EXPECT_EQ(found("UPDATE dataset SET id = 3 WHERE id = 1"), "row 1");
  EXPECT_EQ(found("DELETE FROM dataset WHERE id = 2"), "row 2");
  EXPECT_EQ(found("INSERT INTO dataset VALUES (3, 'more', 1, 0, 1, 0, 0, 0)"), "data set 3");
}

TEST_F(VerifyTest, AChangedOwnerOrDateOrGenesisIsFound) {
  EXPECT_EQ(found("UPDATE ledger SET owner = 'bank-b'"), "row 1");
  EXPECT_EQ(found("UPDATE ledger SET created = created || ' '"), "row 1");
  EXPECT_EQ(found("UPDATE ledger SET genesis = randomblob(32)"), "row 1");
  EXPECT_EQ(found("UPDATE ledger SET format = 1"), "row 1");
  EXPECT_FALSE(after("UPDATE ledger SET format = 3"));
  EXPECT_FALSE(after("INSERT INTO ledger SELECT * FROM ledger"));
  EXPECT_FALSE(after("DELETE FROM ledger"));
}

TEST_F(VerifyTest, RemovedOrAddedTablesAndTriggersAreFound) {
  EXPECT_FALSE(after("DROP INDEX one_answer"));
  EXPECT_FALSE(after("DROP TABLE dataset"));
  EXPECT_FALSE(after("DROP TABLE charge; CREATE TABLE charge (id)"));
  EXPECT_FALSE(after("CREATE TRIGGER more AFTER INSERT ON charge BEGIN DELETE FROM ledger; END"));
  ASSERT_TRUE(after("SELECT 1"));
  ASSERT_TRUE(Connection::write(copy)->run("DROP TRIGGER charge_is_kept"));
  EXPECT_EQ(verify(copy).error().code, Code::kIntegrity);
}

TEST_F(VerifyTest, TheTablesThemselvesRefuseChangesOfRows) {
  Connection db = *Connection::write(file);
  EXPECT_FALSE(db.run("UPDATE charge SET cost = 0"));
  EXPECT_FALSE(db.run("DELETE FROM charge"));
}

// Below SQL: any byte of the file. What is not found must be without meaning.
TEST_F(VerifyTest, AFlippedByteOfTheFileIsFoundOrMeansNothing) {
  const std::string whole = *read_file(file);
  const std::vector<Row> rows = ledger::read(file)->rows;
  std::mt19937_64 random(2026);
  int found = 0;
  for (int i = 0; i < 300; ++i) {
    std::string damaged = whole;
    damaged[random() % whole.size()] ^= static_cast<char>(1 + random() % 255);
    std::FILE* out = std::fopen(copy.c_str(), "wb");
    ASSERT_EQ(std::fwrite(damaged.data(), 1, damaged.size(), out), damaged.size());
    std::fclose(out);
    const auto contents = ledger::read(copy);
    found += !contents;
    if (contents) {
      EXPECT_EQ(contents->rows, rows);
    } else {
      EXPECT_EQ(contents.error().code, Code::kIntegrity) << describe(contents.error());
    }
  }
  EXPECT_GT(found, 30) << "the test has lost its power: most of a ledger has a meaning";
}

TEST_F(VerifyTest, ADamagedLedgerIsNotOpenedAndNotTouchedAlsoWithALogFromACrash) {
  EXPECT_EQ(in_child([&] {
              Ledger ledger = *Ledger::open(file, "bank-a", clock);
              const DatasetId loans = *ledger.declare("loans", pure_budget(1));
              if (!pay(ledger, loans, some_query("first", 3))) return 1;
              _exit(0);  // Without closing: the answer is in the log only.
            }),
            0);
  const std::string log = file.string() + "-wal";
  ASSERT_GT(fs::file_size(log), 0u);
  EXPECT_EQ(verify(file)->rows, 7);
  std::string damaged = *read_file(file), text = *read_file(log);
  damaged.replace(damaged.find("bank-a"), 6, "bank-b");
  std::FILE* out = std::fopen(file.c_str(), "r+b");
  ASSERT_EQ(std::fwrite(damaged.data(), 1, damaged.size(), out), damaged.size());
  std::fclose(out);
  EXPECT_EQ(Ledger::open(file, "bank-a", clock).error().code, Code::kIntegrity);
  EXPECT_EQ(*read_file(file), damaged);
  EXPECT_EQ(*read_file(log), text);
}

}  // namespace verify_test
}  // namespace parley::ledger
