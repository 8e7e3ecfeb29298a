// Opening a ledger: who may, what is refused, and that a refusal leaves every file as it was.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <random>

#include "parley/base/files.h"
#include "parley/ledger/ledger.h"
#include "parley/ledger/read.h"
#include "parley/ledger/storage/sqlite.h"
#include "support/ledgers.h"

namespace parley::ledger {
namespace open_test {

using namespace test;
namespace fs = std::filesystem;

struct OpenTest : testing::Test {
  ~OpenTest() override { std::filesystem::remove_all(folder); }
  Result<Ledger> open(const std::string& owner = "bank-a") {
    return Ledger::open(file, owner, clock);
  }
  void make_ledger() {
    Ledger ledger = *open();
    ASSERT_TRUE(pay(ledger, *ledger.declare("loans", pure_budget(1)), some_query("job", 1)));
  }
  /// The error of open(), after checking that it names the file, helps, and changed nothing.
  Error refused(const std::string& owner = "bank-a") {
    const auto content = read_file(file);
    const auto opened = open(owner);
    EXPECT_FALSE(opened);
    if (opened) return {};
    EXPECT_EQ(opened.error().where.file, file.string());
    EXPECT_FALSE(opened.error().hint.empty());
    const auto after = read_file(file);
    EXPECT_EQ(after ? *after : "none", content ? *content : "none");
    return opened.error();
  }
  const fs::path folder = fresh_folder();
  const fs::path file = folder / "ledger.db";
  StoppedClock clock;
};

TEST_F(OpenTest, ASecondWriterIsRefusedWhileTheFirstLives) {
  {
    Ledger first = *open();
    EXPECT_EQ(open().error().code, Code::kFailed);
    EXPECT_NE(open().error().what.find("in use by another process"), std::string::npos);
    EXPECT_EQ(in_child([&] { return status_of(open()); }), status_of(Code::kFailed));
    Ledger moved = std::move(first);
    EXPECT_FALSE(open()) << "moving a ledger keeps its lock";
  }
  EXPECT_TRUE(open());
  EXPECT_EQ(in_child([&] { return status_of(open()); }), 0);
}

TEST_F(OpenTest, ALinkToALedgerIsTheSameLedger) {
  Ledger first = *open();
  fs::create_symlink(file, folder / "link");
  EXPECT_EQ(Ledger::open(folder / "link", "bank-a", clock).error().code, Code::kFailed);
}

TEST_F(OpenTest, ReadersKeepTheLatestRowsThatTheyWant) {
  Ledger ledger = *open();
  const DatasetId loans = *ledger.declare("loans", pure_budget(1));
  for (uint32_t round = 1; round <= 9; ++round) *pay(ledger, loans, some_query("job", round));
  const auto odd =
      ledger::read(file, {.wants = [](const Row& row) { return row.round % 2 == 1; }, .most = 2});
  ASSERT_TRUE(odd) << describe(odd.error());
  EXPECT_EQ(odd->matched, 5u);
  ASSERT_EQ(odd->rows.size(), 2u);
  EXPECT_EQ(odd->rows.front().round, 7);
  EXPECT_EQ(odd->rows.back().round, 9);
  const auto none = ledger::read(file, {.most = 0});
  EXPECT_TRUE(none->rows.empty());
  EXPECT_EQ(none->matched, 10u);
  EXPECT_EQ(none->head, odd->head);
}

TEST_F(OpenTest, ReadersSeeEveryAnswerWhileAWriterLives) {
  int answers[2], orders[2];
  ASSERT_EQ(pipe(answers) + pipe(orders), 0);
  const pid_t writer = start_child([&] {
    Ledger ledger = *open();
    const DatasetId loans = *ledger.declare("loans", pure_budget(1));
    char go = 0;
    for (uint32_t round = 1; ::read(orders[0], &go, 1) == 1 && go == 'p'; ++round) {
      *pay(ledger, loans, some_query("job", round));
      if (write(answers[1], "a", 1) != 1) return 1;
    }
    return 0;
  });
  for (int64_t round = 1; round <= 3; ++round) {
    char done = 0;
    ASSERT_EQ(write(orders[1], "p", 1), 1);
    ASSERT_EQ(::read(answers[0], &done, 1), 1);
    const auto contents = ledger::read(file);
    ASSERT_TRUE(contents) << describe(contents.error());
    EXPECT_EQ(contents->rows.back().round, round);
    EXPECT_EQ(verify(file)->rows, round + 1);
    EXPECT_EQ(open().error().code, Code::kFailed) << "reading is not writing";
  }
  ASSERT_EQ(write(orders[1], "q", 1), 1);
  int status = 0;
  ASSERT_EQ(waitpid(writer, &status, 0), writer);
  EXPECT_EQ(status, 0);
  for (const int end : {answers[0], answers[1], orders[0], orders[1]}) close(end);
}

TEST_F(OpenTest, ReadingLeavesNothingBehind) {
  make_ledger();
  ASSERT_TRUE(verify(file));
  for (const auto& entry : fs::directory_iterator(folder))
    EXPECT_TRUE(entry.path() == file || entry.path().extension() == ".lock") << entry.path();
}

TEST_F(OpenTest, WhatIsNotALedgerIsRefusedAndKept) {
  ASSERT_TRUE(write_file(file, ""));
  EXPECT_EQ(refused().code, Code::kIntegrity);
  ASSERT_TRUE(write_file(file, "These are my notes.\n"));
  EXPECT_EQ(refused().code, Code::kIntegrity);
  std::string garbage(100000, 'x');
  std::mt19937_64 random(1);
  for (char& byte : garbage) byte = static_cast<char>(random());
  ASSERT_TRUE(write_file(file, garbage));
  EXPECT_EQ(refused().code, Code::kIntegrity);
  ASSERT_TRUE(write_file(file, "SQLite format 3" + garbage));
  EXPECT_EQ(refused().code, Code::kIntegrity);
  fs::remove(file);
  ASSERT_TRUE(Connection::create(file)->run("CREATE TABLE note (text)"));
  EXPECT_EQ(refused().what, "is not a Parley ledger");
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_FALSE(open());
  EXPECT_EQ(verify(file).error().code, Code::kInvalid);
}

TEST_F(OpenTest, ATruncatedLedgerIsRefusedAndKept) {
  make_ledger();
  const std::string whole = *read_file(file);
  for (size_t size = 1; size < whole.size(); size += 997) {
    ASSERT_TRUE(write_file(file, whole.substr(0, size)));
    EXPECT_EQ(refused().code, Code::kIntegrity) << size << " of " << whole.size() << " bytes";
    EXPECT_EQ(verify(file).error().code, Code::kIntegrity) << size;
  }
  ASSERT_TRUE(write_file(file, whole));
  EXPECT_TRUE(open());
}

TEST_F(OpenTest, TheLedgerOfAnotherOwnerIsRefused) {
  make_ledger();
  const Error error = refused("bank-b");
  EXPECT_EQ(error.code, Code::kIntegrity);
  EXPECT_EQ(error.what, "is the ledger of 'bank-a', not of 'bank-b'");
}

TEST_F(OpenTest, AnotherFormatIsRefused) {
  make_ledger();
  ASSERT_TRUE(Connection::write(file)->run(
      "PRAGMA ignore_check_constraints = ON; UPDATE ledger SET format = 3"));
  const Error error = refused();
  EXPECT_EQ(error.code, Code::kIntegrity);
  EXPECT_EQ(error.what, "is a ledger of format 3; this program knows formats 1 and 2");
}

TEST_F(OpenTest, ALedgerThatIsGoneWhileItsLogIsThereIsNotMadeAnew) {
  make_ledger();
  fs::remove(file);
  ASSERT_TRUE(write_file(file.string() + "-wal", "what a crash left"));
  EXPECT_EQ(refused().code, Code::kIntegrity);
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(OpenTest, WhatAnInterruptedStartLeftDoesNotMatter) {
  make_ledger();
  fs::rename(file, file.string() + ".unfinished");
  Ledger ledger = *open();
  EXPECT_EQ(ledger.last_round(some_hash("job")), 0u);
  EXPECT_FALSE(fs::exists(file.string() + ".unfinished"));
}

TEST_F(OpenTest, PathsThatCannotHoldALedgerAreRefused) {
  EXPECT_EQ(verify(file).error().code, Code::kInvalid);
  EXPECT_EQ(ledger::read(file).error().code, Code::kInvalid);
  EXPECT_FALSE(fs::exists(file));
  EXPECT_EQ(Ledger::open(folder / "no" / "l.db", "a", clock).error().code, Code::kInvalid);
  EXPECT_EQ(Ledger::open(folder / "l.lock", "a", clock).error().code, Code::kInvalid);
  EXPECT_EQ(Ledger::open("", "a", clock).error().code, Code::kInvalid);
}

TEST_F(OpenTest, NamesThatMeanSomethingToSqliteAreOrdinaryNames) {
  for (const std::string name : {":memory:", "file:a?mode=memory", "100% #1?.db"}) {
    EXPECT_EQ(in_child([&] {
                fs::current_path(folder);
                if (!Ledger::open(name, "bank-a", clock)) return 1;
                return status_of(verify(name));
              }),
              0)
        << name;
    EXPECT_TRUE(fs::is_regular_file(folder / name)) << name;
  }
}

/// Root may write anywhere, so the child becomes nobody.
void leave_root() {
  if (geteuid() == 0) check(setgid(65534) == 0 && setuid(65534) == 0);
}

TEST_F(OpenTest, InAReadOnlyFolderALedgerCanBeVerifiedButNotOpened) {
  make_ledger();
  chmod(folder.c_str(), 0555);
  EXPECT_EQ(in_child([&] { return leave_root(), status_of(open()); }), status_of(Code::kFailed));
  EXPECT_EQ(in_child([&] { return leave_root(), status_of(verify(file)); }), 0);
  EXPECT_EQ(in_child([&] {
              return leave_root(), status_of(Ledger::open(folder / "new.db", "a", clock));
            }),
            status_of(Code::kFailed));
  chmod(folder.c_str(), 0755);
  EXPECT_TRUE(open());
}

TEST_F(OpenTest, AReadOnlyFileIsNotOpened) {
  make_ledger();
  chmod(folder.c_str(), 0777);
  chmod(file.c_str(), 0444);
  chmod((folder / "ledger.lock").c_str(), 0666);
  EXPECT_EQ(in_child([&] { return leave_root(), status_of(open()); }), status_of(Code::kFailed));
  chmod(file.c_str(), 0644);
  EXPECT_TRUE(open());
}

}  // namespace open_test
}  // namespace parley::ledger
