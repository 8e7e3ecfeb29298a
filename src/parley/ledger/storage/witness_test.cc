// A ledger that went back in time is noticed by its witness, without a learner.
#include "parley/ledger/storage/witness.h"

#include <gtest/gtest.h>

#include "parley/base/files.h"
#include "parley/ledger/read.h"
#include "support/ledgers.h"

namespace parley::ledger {
namespace witness_test {

using namespace test;
namespace fs = std::filesystem;

struct WitnessTest : testing::Test {
  WitnessTest() { fs::create_directories(file.parent_path()); }
  ~WitnessTest() override { fs::remove_all(folder); }
  Result<Ledger> open(bool reconciling = false) {
    return Ledger::open(file, "bank-a", clock, {.witness = witness, .reconciling = reconciling});
  }
  void pay_rounds(uint32_t from, uint32_t to) {
    Ledger ledger = *open();
    const DatasetId loans = *ledger.declare("loans", pure_budget(10));
    for (uint32_t round = from; round <= to; ++round) {
      const auto answer = *pay(ledger, loans, some_query("job", round));
      left.push_back({answer.receipt(), answer.values()});
    }
  }
  void keep_copy() { fs::copy_file(file, copy); }
  void roll_back() { fs::copy_file(copy, file, fs::copy_options::overwrite_existing); }
  void expect_refused(const std::string& why) {
    const auto opened = open();
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::kIntegrity);
    EXPECT_NE(opened.error().what.find(why), std::string::npos) << opened.error().what;
    EXPECT_NE(opened.error().what.find(witness.string()), std::string::npos);
    EXPECT_NE(opened.error().hint.find("parley ledger reconcile"), std::string::npos);
  }
  const fs::path folder = fresh_folder();
  const fs::path file = folder / "state" / "ledger.db", copy = folder / "copy.db",
                 witness = folder / "witness";
  StoppedClock clock;
  std::vector<Returned> left;
};

TEST_F(WitnessTest, AnOlderCopyIsNotOpenedUntilWhatItForgotIsBooked) {
  pay_rounds(1, 2);
  keep_copy();
  pay_rounds(3, 5);
  roll_back();
  expect_refused("has seen 6 rows, it has 3");
  expect_refused("has seen 6 rows, it has 3");
  {
    Ledger ledger = *open(true);
    EXPECT_EQ(ledger.is_reconciled().error().code, Code::kIntegrity) << "nothing was booked yet";
    const DatasetId loans = *ledger.find("loans");
    ASSERT_TRUE(ledger.restore(loans, some_hash("job"), std::span(left).first(4)));
    EXPECT_EQ(ledger.is_reconciled().error().code, Code::kIntegrity) << "the last one is missing";
  }
  expect_refused("has seen 6 rows");
  {
    Ledger ledger = *open(true);
    ASSERT_TRUE(ledger.restore(*ledger.find("loans"), some_hash("job"), left));
    ASSERT_TRUE(ledger.is_reconciled());
    EXPECT_DOUBLE_EQ(ledger.spent(*ledger.find("loans")).pure, 0.5);
  }
  pay_rounds(6, 6);
  EXPECT_TRUE(open());
}

TEST_F(WitnessTest, ACopyThatWentOnElsewhereIsNoticedAlsoWhenItIsLonger) {
  pay_rounds(1, 2);
  keep_copy();
  pay_rounds(3, 3);
  roll_back();
  {
    Ledger ledger = *Ledger::open(file, "bank-a", clock);  // A policy without a witness.
    for (uint32_t round = 3; round <= 9; ++round)
      ASSERT_TRUE(pay(ledger, *ledger.find("loans"), some_query("job", round)));
  }
  expect_refused("has seen 4 rows, it has 10 others");
}

TEST_F(WitnessTest, ALedgerThatIsGoneOrReplacedByANewOneIsNoticed) {
  pay_rounds(1, 2);
  fs::remove(file);
  expect_refused("is gone");
  EXPECT_FALSE(fs::exists(file)) << "none was made in its place";
  ASSERT_TRUE(Ledger::open(file, "bank-a", clock));
  expect_refused("another ledger");
  fs::remove(file);
  Ledger ledger = *open(true);
  const DatasetId loans = *ledger.declare("loans", pure_budget(10));
  ASSERT_TRUE(ledger.restore(loans, some_hash("job"), left));
  EXPECT_TRUE(ledger.is_reconciled());
}

TEST_F(WitnessTest, AKilledOwnerIsNotTakenForAnOlderCopy) {
  pay_rounds(1, 1);
  for (uint32_t round = 2; round <= 6; ++round) {
    EXPECT_EQ(in_child([&] {
                Ledger ledger = *open();
                *pay(ledger, *ledger.find("loans"), some_query("job", round));
                _exit(0);  // Nothing is closed, nothing is synced.
                return 0;
              }),
              0);
    ASSERT_TRUE(open());
    EXPECT_EQ(Witness::open(witness)->seen()->rows, int64_t{round} + 1);
  }
}

TEST_F(WitnessTest, AWitnessThatIsBehindIsBroughtUpToDate) {
  pay_rounds(1, 2);
  const std::string old = *read_file(witness);
  pay_rounds(3, 4);
  ASSERT_TRUE(write_file(witness, old)) << "as after a power cut";
  ASSERT_TRUE(open());
  EXPECT_EQ(Witness::open(witness)->seen()->rows, 5);
}

TEST_F(WitnessTest, ALineThatIsTornLeavesTheOther) {
  pay_rounds(1, 3);
  const std::string whole = *read_file(witness);
  ASSERT_EQ(whole.size(), 1024u);
  const auto seen = Witness::open(witness)->seen();
  for (const size_t line : {0u, 512u}) {
    std::string torn = whole;
    torn.replace(line, 100, 100, '\0');
    ASSERT_TRUE(write_file(witness, torn));
    const auto other = Witness::open(witness);
    ASSERT_TRUE(other) << describe(other.error());
    EXPECT_GE(other->seen()->rows, seen->rows - 1);
    ASSERT_TRUE(open());
  }
  ASSERT_TRUE(write_file(witness, "These are my notes.\n"));
  EXPECT_EQ(open().error().code, Code::kIntegrity);
  EXPECT_EQ(*read_file(witness), "These are my notes.\n");
}

TEST_F(WitnessTest, AWitnessBesideItsLedgerOrNowhereIsRefused) {
  EXPECT_EQ(
      Ledger::open(file, "bank-a", clock, {.witness = file.parent_path() / "witness"}).error().code,
      Code::kInvalid);
  EXPECT_EQ(
      Ledger::open(file, "bank-a", clock, {.witness = folder / "no" / "witness"}).error().code,
      Code::kFailed);
}

}  // namespace witness_test
}  // namespace parley::ledger
