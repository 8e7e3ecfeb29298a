// The disk fails, fills up, or loses power: at every write and every sync, and with the last
// transaction cut at every byte. After a restart everything that left is recorded and replays to
// the byte, and the chain is whole or says where it is not. The number of crashes is printed.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdio>

#include "parley/base/files.h"
#include "parley/ledger/events.h"
#include "parley/ledger/ledger.h"
#include "parley/ledger/read.h"
#include "parley/ledger/storage/sqlite.h"
#include "support/disk.h"
#include "support/ledgers.h"

namespace parley::ledger {
namespace power_test {

using namespace test;
namespace fs = std::filesystem;

/// An answer, once it could have left.
struct Left {
  Query query;
  Bytes answer;
  size_t steps = 0;  // of the disk, before it could
};

/// Written in place: a new name for every crash would cost more than the crash.
void put_file(const fs::path& file, const std::optional<std::string>& content) {
  if (!content) {
    fs::remove(file);
    return;
  }
  std::FILE* out = std::fopen(file.c_str(), "wb");
  check(out && std::fwrite(content->data(), 1, content->size(), out) == content->size());
  std::fclose(out);
}

struct PowerTest : testing::Test {
  PowerTest() {
    Ledger ledger = *Ledger::open(file, "bank-a", clock);
    (void)*ledger.declare("loans", pure_budget(1000));
  }
  ~PowerTest() override { fs::remove_all(folder); }

  Result<void> pay_once(Ledger& ledger, const Query& query) {
    const auto loans = TRY(ledger.declare("loans", pure_budget(1000)));
    const auto answer = TRY(pay(ledger, loans, query));
    left.push_back({query, bytes_of(answer), disk.steps().size()});
    return {};
  }
  /// All that a ledger does: answers and evaluations of two charters, sources, decisions, a log
  /// moved into the file in the middle, a restart with a signed checkpoint.
  void live() {
    for (uint32_t life = 0; life < 2; ++life) {
      Ledger ledger = *Ledger::open(file, "bank-a", clock, keeping);
      const DataSource source{.is = "csv loans.csv", .digests = {some_hash("rows")}};
      const DatasetId loans = *ledger.declare("loans", pure_budget(1000), "record", source);
      *ledger.accept_source("credits", pure_budget(1), source, "alice", "other people");
      for (uint32_t round = 4 * life + 1; round <= 4 * life + 4; ++round) {
        *pay_once(ledger, some_query("first", round));
        Query evaluation = some_query("second", round);
        evaluation.kind = privacy::ReleaseKind::kEvaluation;
        *pay_once(ledger, evaluation);
        if (round % 2 == 0) *Connection::write(file)->run("PRAGMA wal_checkpoint(PASSIVE)");
      }
      *ledger.decide(loans, some_hash("first"), Decision{.by = "alice", .at = "today"});
    }
  }

  /// Opens what is left of the ledger. `steps` is when the crash came.
  void expect_recorded(size_t steps) {
    ++crashes;  // Every second time from its checkpoint, if there is one.
    const auto ledger = Ledger::open(file, "bank-a", clock, crashes % 2 ? keeping : Keeping{});
    ASSERT_TRUE(ledger) << describe(ledger.error());
    for (const Left& each : left) {
      if (each.steps > steps) continue;
      const auto stored = ledger->stored(each.query);
      ASSERT_TRUE(stored && *stored) << "an answer left and is forgotten";
      ASSERT_EQ(bytes_of(**stored), each.answer) << "an answer left and another is stored";
    }
  }
  void say(const char* what) const { std::printf("%zu crash points: %s\n", crashes, what); }

  const fs::path folder = fresh_folder();
  const fs::path file = folder / "ledger.db", log = folder / "ledger.db-wal",
                 index = folder / "ledger.db-shm";
  const Keeping keeping{.key = SigningKey::make(), .checkpoint_rows = 6};
  StoppedClock clock;
  test::Disk disk;
  std::vector<Left> left;
  size_t crashes = 0;
};

TEST_F(PowerTest, WhatLeftIsRecordedWhereverThePowerFailsAndWhateverOfTheUnsyncedArrives) {
  std::map<std::string, Platter> platters;
  platters["ledger.db"].apply({DiskStep::Kind::kWrite, "ledger.db", 0, *read_file(file)});
  platters["ledger.db"].apply({DiskStep::Kind::kSync, "ledger.db"});
  disk.forget_steps();
  live();
  const std::vector<DiskStep> steps = disk.steps();
  ASSERT_GT(steps.size(), 100u);
  ASSERT_EQ(verify(file)->checkpoints, 1);
  std::mt19937_64 random(6);
  const auto crash = [&](size_t at, const auto& content_of) {
    for (const char* name : {"ledger.db", "ledger.db-wal"})
      put_file(folder / name, content_of(name));
    fs::remove(index);
    expect_recorded(at);
  };
  for (size_t at = 0; at <= steps.size() && !HasFatalFailure(); ++at) {
    SCOPED_TRACE("after step " + std::to_string(at));
    crash(at, [&](const char* name) { return platters[name].as_written(); });  // killed
    crash(at, [&](const char* name) { return platters[name].as_synced(); });
    for (int chance = 0; chance < 6; ++chance)
      crash(at, [&](const char* name) { return platters[name].as_chance_has_it(random); });
    if (at == steps.size()) break;
    const DiskStep& next = steps[at];
    for (size_t part = 1; part < 4 && next.kind == DiskStep::Kind::kWrite; ++part)
      crash(at, [&](const char* name) {
        return name == next.file ? platters[name].torn(next, next.bytes.size() * part / 4)
                                 : platters[name].as_written();
      });
    platters[next.file].apply(next);
  }
  say("power lost or killed at every write and sync");
}

TEST_F(PowerTest, WhereASyncOrAWriteFailsOrTheDiskIsFullNothingLeavesUnrecorded) {
  const std::string fresh = *read_file(file);
  const DiskFault kFaults[] = {
      {1, SQLITE_IOERR_WRITE, false, 0}, {1, SQLITE_IOERR_WRITE, false, 0.5},
      {1, SQLITE_IOERR_FSYNC, false, 1}, {1, SQLITE_IOERR_FSYNC, true, 1},
      {1, SQLITE_FULL, false, 0},        {1, SQLITE_FULL, true, 0.3}};
  for (DiskFault fault : kFaults)
    for (fault.at = 1; !HasFatalFailure(); ++fault.at) {
      SCOPED_TRACE(std::to_string(fault.code) + " at step " + std::to_string(fault.at));
      put_file(file, fresh);
      fs::remove(log);
      fs::remove(index);
      left.clear();
      disk.forget_steps();
      disk.fail(fault);
      uint32_t refused = 0;
      if (auto ledger = Ledger::open(file, "bank-a", clock)) {
        for (uint32_t tries = 1; tries <= 6; ++tries) {  // The same process goes on after an error.
          const uint32_t round = ledger->last_round(some_hash("job")) + 1;
          const auto paid = pay_once(*ledger, some_query("job", round));
          refused += !paid;
          ASSERT_TRUE(paid || paid.error().code == Code::kFailed) << describe(paid.error());
        }
        ASSERT_EQ(ledger->last_round(some_hash("job")), left.size());
        ASSERT_TRUE(refused == 0 || fault.for_good || refused == 1) << refused;
      } else {
        ASSERT_EQ(ledger.error().code, Code::kFailed) << describe(ledger.error());
      }
      const bool met = disk.heal();
      expect_recorded(disk.steps().size());
      const auto verified = verify(file);
      ASSERT_TRUE(verified) << describe(verified.error());
      // What was recorded and did not leave is charged, not forgotten; and it is at most one.
      ASSERT_LE(verified->rows - verified->checkpoints,
                static_cast<int64_t>(1 + left.size() + (refused > 0)));
      if (!met) break;
      ASSERT_LT(fault.at, 1000u) << "it never succeeds";
    }
  say("writes and syncs that fail, disks that are full");
}

TEST_F(PowerTest, ALogCutAnywhereInItsLastTransactionLosesThatOneAndItsReceiptTells) {
  {
    Ledger ledger = *Ledger::open(file, "bank-a", clock);
    ASSERT_TRUE(pay_once(ledger, some_query("job", 1)));
    const size_t before = disk.steps().size();
    const auto whole = fs::file_size(log);
    ASSERT_TRUE(pay_once(ledger, some_query("job", 2)));
    ASSERT_GT(disk.steps().size(), before);
    fs::copy_file(log, folder / "log");
    fs::copy_file(file, folder / "db");
    left[0].steps = whole;  // Where the first transaction ends.
  }
  const auto second = *ledger::read(file);
  fs::copy_file(folder / "db", file, fs::copy_options::overwrite_existing);
  fs::copy_file(folder / "log", log, fs::copy_options::overwrite_existing);
  const size_t size = fs::file_size(log), first = left[0].steps;
  ASSERT_GT(size, first);
  for (size_t cut = size - 1; cut >= first && !HasFatalFailure(); --cut) {
    fs::resize_file(log, cut);
    fs::remove(index);
    ++crashes;
    const auto contents = ledger::read(file);
    ASSERT_TRUE(contents) << cut << ": " << describe(contents.error());
    ASSERT_EQ(contents->rows.size(), 2u) << cut;
    ASSERT_EQ(contents->head, second.rows[1].hash) << cut;
    ASSERT_FALSE(contents->knows(second.head)) << "a peer's receipt of it would stop the owner";
  }
  EXPECT_GT(crashes, 8'000u) << "two pages of the log";
  say("the log cut at every byte of its last transaction");
}

TEST_F(PowerTest, ALedgerCutAnywhereInItsLastPagesIsFoundOrMeansTheSame) {
  {
    Ledger ledger = *Ledger::open(file, "bank-a", clock);
    for (uint32_t round = 1; round <= 20; ++round)
      ASSERT_TRUE(pay_once(ledger, some_query("job", round)));
  }
  const auto rows = ledger::read(file)->rows;
  const size_t size = fs::file_size(file);
  size_t found = 0;
  for (size_t cut = size - 1; cut >= size - 2 * 4096 && !HasFatalFailure(); --cut) {
    fs::resize_file(file, cut);
    ++crashes;
    const auto contents = ledger::read(file);
    found += !contents;
    if (contents) {
      ASSERT_EQ(contents->rows, rows) << cut;
    } else {
      ASSERT_EQ(contents.error().code, Code::kIntegrity) << describe(contents.error());
      ASSERT_FALSE(contents.error().what.empty());
    }
  }
  EXPECT_GT(found, crashes / 2);
  say("the file cut at every byte of its last pages");
}

}  // namespace power_test
}  // namespace parley::ledger
