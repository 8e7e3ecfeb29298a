#include "parley/ledger/ledger.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "parley/base/files.h"
#include "parley/base/math/number.h"
#include "parley/ledger/read.h"
#include "parley/ledger/simulated.h"
#include "parley/ledger/storage/sqlite.h"
#include "support/entropy.h"
#include "support/ledgers.h"

namespace parley::ledger {
namespace ledger_test {

using namespace test;
using privacy::Drawn;
using privacy::Epsilon;
using privacy::Laplace;
using privacy::Released;

static_assert(!std::is_copy_constructible_v<Ledger>, "a copy would double the budget");
static_assert(!std::is_copy_assignable_v<Ledger>);
static_assert(!std::is_constructible_v<Released, std::vector<int64_t>, privacy::Receipt>,
              "only a ledger makes answers");
static_assert(!std::is_convertible_v<int64_t, DatasetId>);

struct LedgerTest : testing::Test {
  ~LedgerTest() override { std::filesystem::remove_all(folder); }
  Ledger open() { return *Ledger::open(file, "bank-a", clock); }
  const std::filesystem::path folder = fresh_folder();
  const std::filesystem::path file = folder / "ledger.db";
  StoppedClock clock;
};

TEST_F(LedgerTest, AnAnswerIsTheSumPlusTheNoiseThatWasCharged) {
  Ledger ledger = open();
  const DatasetId loans = *ledger.declare("loans", pure_budget(1));
  const Laplace laplace = *Laplace::make(1000);
  SeededEntropy twin(7, "noise"), entropy(7, "noise");
  const Released answer = *ledger.pay(loans, some_query("job", 1), bounded_for_test({5, -6}, 100),
                                      Drawn<Laplace>(laplace, 2, entropy));
  const int64_t first = laplace.sample(twin), second = laplace.sample(twin);
  EXPECT_EQ(answer.values(), (std::vector<int64_t>{5 + first, -6 + second}));
  EXPECT_EQ(ledger.spent(loans).pure, 0.1);
  EXPECT_EQ(answer.receipt(),
            (privacy::Receipt{.round = 1,
                              .event = laplace.event(100),
                              .epsilon_spent = 0.1,
                              .delta_spent = 0,
                              .chain = ledger.head(),
                              .query = some_query("job", 1).query,
                              .answer = sha256(bytes_of(answer.values())),
                              .job = privacy::job_after(Hash{}, some_query("job", 1).query,
                                                        sha256(bytes_of(answer.values())))}));
}

TEST_F(LedgerTest, ChargeAndAnswerAreOneRowThatFollowsTheRowBefore) {
  Ledger ledger = open();
  const DatasetId loans = *ledger.declare("loans", pure_budget(1));
  const Query query = some_query("job", 1);
  const Released answer = *pay(ledger, loans, query);
  const Contents contents = *read(file);
  EXPECT_EQ(contents.owner, "bank-a");
  EXPECT_EQ(contents.created, "2026-11-15T08:00:00Z");
  ASSERT_EQ(contents.rows.size(), 2u);  // the budget, the answer
  const Row& row = contents.rows[1];
  EXPECT_EQ(contents.head, row.hash);
  Bytes bytes;
  for (const int64_t value : answer.values())
    append_little_endian(bytes, static_cast<uint64_t>(value));
  EXPECT_EQ(row, (Row{.id = 2,
                      .at = "2026-11-15T08:00:00Z",
                      .kind = "answer",
                      .dataset = 1,
                      .charter = query.charter,
                      .round = 1,
                      .query = query.query,
                      .event = answer.receipt().event,
                      .track = "pure",
                      .cost = 0.1,
                      .answer = bytes,
                      .previous = contents.rows[0].hash,
                      .hash = answer.receipt().chain}));
  ASSERT_EQ(contents.datasets.size(), 1u);
  EXPECT_EQ(contents.datasets[0].name, "loans");
  EXPECT_EQ(contents.datasets[0].budget, pure_budget(1));
  EXPECT_EQ(contents.datasets[0].spent.pure, 0.1);
}

TEST_F(LedgerTest, ARepeatedQueryGetsTheStoredAnswerAndCostsNothing) {
  std::vector<Bytes> first;
  {
    Ledger ledger = open();
    const DatasetId loans = *ledger.declare("loans", pure_budget(1));
    for (uint32_t round = 1; round <= 3; ++round)
      first.push_back(bytes_of(*pay(ledger, loans, some_query("job", round))));
    const Hash head = ledger.head();
    for (uint32_t round = 1; round <= 3; ++round)
      EXPECT_EQ(bytes_of(*pay(ledger, loans, some_query("job", round))), first[round - 1]);
    EXPECT_EQ(ledger.head(), head);
  }
  Ledger ledger = open();
  const DatasetId loans = *ledger.declare("loans", pure_budget(1));
  ASSERT_TRUE(pay(ledger, loans, some_query("job", 4)));  // Must not show in older receipts.
  const privacy::Spent spent = ledger.spent(loans);
  for (uint32_t round = 1; round <= 3; ++round) {
    EXPECT_EQ(bytes_of(**ledger.stored(some_query("job", round))), first[round - 1]);
    EXPECT_EQ(bytes_of(*pay(ledger, loans, some_query("job", round))), first[round - 1]);
  }
  EXPECT_EQ(ledger.spent(loans).pure, spent.pure);
  EXPECT_EQ(verify(file)->rows, 5);
}

TEST_F(LedgerTest, AReceiptAddsUpItsOwnCharterOnly) {
  Ledger ledger = open();
  const DatasetId loans = *ledger.declare("loans", pure_budget(1));
  ASSERT_TRUE(pay(ledger, loans, some_query("another job", 1)));
  double expected = 0;
  for (uint32_t round = 1; round <= 3; ++round) {
    expected = add_up(expected, div_up(100, 1000));
    EXPECT_EQ(pay(ledger, loans, some_query("job", round))->receipt().epsilon_spent, expected);
  }
}

TEST_F(LedgerTest, TheSameRoundWithAnotherQueryIsRefused) {
  Ledger ledger = open();
  const DatasetId loans = *ledger.declare("loans", pure_budget(1));
  ASSERT_TRUE(pay(ledger, loans, some_query("job", 1)));
  const Query other = some_query("job", 1, "another theta");
  EXPECT_EQ(ledger.stored(other).error().code, Code::kIntegrity);
  EXPECT_EQ(pay(ledger, loans, other).error().code, Code::kIntegrity);
  EXPECT_EQ(ledger.spent(loans).pure, 0.1);
}

TEST_F(LedgerTest, RoundsGoUpByOneForEachCharter) {
  Ledger ledger = open();
  const DatasetId loans = *ledger.declare("loans", pure_budget(1));
  const auto refused = [&](uint32_t round) {
    EXPECT_FALSE(*ledger.stored(some_query("job", round)));
    const Error error = pay(ledger, loans, some_query("job", round)).error();
    EXPECT_NE(error.what.find("out of order"), std::string::npos) << error.what;
    EXPECT_FALSE(error.hint.empty());
    return error.code == Code::kIntegrity;
  };
  EXPECT_TRUE(refused(0));
  EXPECT_TRUE(refused(2));
  ASSERT_TRUE(pay(ledger, loans, some_query("job", 1)));
  ASSERT_TRUE(pay(ledger, loans, some_query("another job", 1)));
  EXPECT_TRUE(refused(0));
  EXPECT_TRUE(refused(3));
  EXPECT_EQ(ledger.last_round(some_hash("job")), 1u);
  EXPECT_EQ(ledger.last_round(some_hash("no job")), 0u);
}

TEST_F(LedgerTest, CalibratedAnswersFitTheirEpsilonExactlyAndNotOneMore) {
  for (const double epsilon : {0.1, 1.0, 3.3})
    for (const uint32_t answers : {1u, 3u, 7u, 100u}) {
      Ledger ledger = *Ledger::open_volatile("bank-a", clock, Simulated{});
      const DatasetId loans = *ledger.declare("loans", pure_budget(epsilon));
      const Laplace laplace = *Laplace::calibrate(1e6, answers, *Epsilon::make(epsilon));
      EXPECT_TRUE(ledger.can_afford(loans, laplace.cost(1e6), answers));
      EXPECT_FALSE(ledger.can_afford(loans, laplace.cost(1e6), answers + 1));
      for (uint32_t round = 1; round <= answers; ++round)
        ASSERT_TRUE(pay(ledger, loans, some_query("job", round), laplace.scale(), 1e6));
      EXPECT_LE(ledger.spent(loans).pure, epsilon);
      EXPECT_EQ(
          pay(ledger, loans, some_query("job", answers + 1), laplace.scale(), 1e6).error().code,
          Code::kBudgetExhausted);
      EXPECT_EQ(ledger.last_round(some_hash("job")), answers);
    }
}

TEST_F(LedgerTest, TheBudgetIsForLifeOverAllChartersAndRestarts) {
  const Laplace half = *Laplace::calibrate(100, 2, Epsilon{0.5});
  for (const char* charter : {"first", "second"}) {
    Ledger ledger = open();
    const DatasetId loans = *ledger.declare("loans", pure_budget(1));
    ASSERT_TRUE(ledger.can_afford(loans, half.cost(100), 2));
    for (uint32_t round = 1; round <= 2; ++round)
      ASSERT_TRUE(pay(ledger, loans, some_query(charter, round), half.scale()));
  }
  Ledger ledger = open();
  const DatasetId loans = *ledger.declare("loans", pure_budget(1));
  EXPECT_EQ(ledger.can_afford(loans, half.cost(100), 1).error().code, Code::kBudgetExhausted);
  EXPECT_EQ(pay(ledger, loans, some_query("third", 1), half.scale()).error().code,
            Code::kBudgetExhausted);
}

TEST_F(LedgerTest, ARefusalSaysWhatIsLeftAndRecordsNothing) {
  const auto content = [&] { return *read_file(file); };
  {
    Ledger ledger = open();
    ASSERT_TRUE(pay(ledger, *ledger.declare("loans", pure_budget(1)), some_query("job", 1)));
  }
  const std::string before = content();
  {
    Ledger ledger = open();
    const DatasetId loans = *ledger.declare("loans", pure_budget(1));
    const Error error = pay(ledger, loans, some_query("job", 2), 64, 96).error();
    EXPECT_EQ(error.code, Code::kBudgetExhausted);
    EXPECT_EQ(error.what,
              "the budget of data set 'loans' does not allow it: asked epsilon 1.5; left "
              "epsilon 0.9");
    EXPECT_FALSE(error.hint.empty());
    const privacy::Cost cost{privacy::Track::kZcdp, 0.25, 1e-9};
    EXPECT_EQ(ledger.can_afford(loans, cost, 3).error().what,
              "the budget of data set 'loans' does not allow it: asked 3 times rho 0.25, delta "
              "1e-09; left rho 0, delta 0");
    EXPECT_EQ(pay(ledger, loans, some_query("job", 9)).error().code, Code::kIntegrity);
    EXPECT_EQ(ledger.last_round(some_hash("job")), 1u);
  }
  EXPECT_EQ(content(), before);
}

TEST_F(LedgerTest, BudgetsOfTwoDataSetsAreIndependent) {
  Ledger ledger = open();
  const DatasetId loans = *ledger.declare("loans", pure_budget(0.1));
  const DatasetId fraud = *ledger.declare("fraud", pure_budget(0.2));
  ASSERT_TRUE(pay(ledger, loans, some_query("job", 1)));
  EXPECT_FALSE(pay(ledger, loans, some_query("job", 2)));
  ASSERT_TRUE(pay(ledger, fraud, some_query("other", 1)));
  ASSERT_TRUE(pay(ledger, fraud, some_query("other", 2)));
  EXPECT_FALSE(pay(ledger, fraud, some_query("other", 3)));
  EXPECT_EQ(ledger.spent(loans).pure, 0.1);
  EXPECT_EQ(ledger.spent(fraud).pure, 0.2);
  EXPECT_EQ(ledger.budget(fraud), pure_budget(0.2));
}

TEST_F(LedgerTest, ACharterIsChargedToOneDataSet) {
  Ledger ledger = open();
  const DatasetId loans = *ledger.declare("loans", pure_budget(1));
  const DatasetId fraud = *ledger.declare("fraud", pure_budget(1));
  ASSERT_TRUE(pay(ledger, loans, some_query("job", 1)));
  EXPECT_EQ(pay(ledger, fraud, some_query("job", 2)).error().code, Code::kPolicy);
  EXPECT_EQ(ledger.spent(fraud).pure, 0);
}

TEST_F(LedgerTest, ABudgetIsFixedByTheFirstCharge) {
  Ledger ledger = open();
  const DatasetId loans = *ledger.declare("loans", pure_budget(1));
  const Hash head = ledger.head();
  EXPECT_EQ(*ledger.declare("loans", pure_budget(1)), loans);
  EXPECT_EQ(ledger.head(), head) << "the same again is nothing";
  EXPECT_EQ(*ledger.declare("loans", pure_budget(2)), loans);
  EXPECT_NE(ledger.head(), head) << "a change is recorded";
  EXPECT_EQ(ledger.budget(loans), pure_budget(2));
  ASSERT_TRUE(pay(ledger, loans, some_query("job", 1)));
  EXPECT_EQ(ledger.declare("loans", pure_budget(3)).error().code, Code::kPolicy);
  EXPECT_EQ(*ledger.declare("loans", pure_budget(2)), loans);
  EXPECT_EQ(ledger.budget(loans), pure_budget(2));
  EXPECT_EQ(verify(file)->rows, 3);
}

TEST_F(LedgerTest, EveryBudgetThatCanBeMadeSurvivesReopening) {
  const double kPure[] = {0.0, -0.0, 0.1, 0.3, 1.1, 0.7};
  int number = 0;
  for (const double pure : kPure) {
    const auto budget = *privacy::Budget::make(Epsilon{1.1}, 1e-6, pure);
    const std::string name = "data " + std::to_string(++number);
    const DatasetId id = *open().declare(name, budget);
    EXPECT_EQ(*open().declare(name, budget), id);
  }
  EXPECT_EQ(verify(file)->rows, number);
}

TEST_F(LedgerTest, ABudgetThatBreaksItsPromiseOrHasNoPlainNameIsRefused) {
  Ledger ledger = open();
  privacy::Budget budget = *privacy::Budget::make(Epsilon{1}, 1e-6, 0.5);
  EXPECT_TRUE(ledger.declare("good", budget));
  const auto refused = [&](double privacy::Budget::* field, double value) {
    privacy::Budget bad = budget;
    bad.*field = value;
    const auto declared = ledger.declare("bad", bad);
    return !declared && declared.error().code == Code::kInvalid;
  };
  EXPECT_TRUE(refused(&privacy::Budget::pure_max, 0.6));
  EXPECT_TRUE(refused(&privacy::Budget::pure_max, std::nan("")));
  EXPECT_TRUE(refused(&privacy::Budget::rho_max, budget.rho_max * 1.01));
  EXPECT_TRUE(refused(&privacy::Budget::delta_convert, 0));
  EXPECT_TRUE(refused(&privacy::Budget::delta_extra, 1e-6));
  EXPECT_TRUE(refused(&privacy::Budget::epsilon, HUGE_VAL));
  for (const std::string name : {"", "quo\"te", "back\\slash", "line\n"})
    EXPECT_EQ(ledger.declare(name, budget).error().code, Code::kInvalid) << name;
  EXPECT_EQ(Ledger::open_volatile("", clock, Simulated{}).error().code, Code::kInvalid);
}

TEST_F(LedgerTest, NoiseCannotBeUsedTwice) {
  Ledger ledger = *Ledger::open_volatile("bank-a", clock, Simulated{});
  const DatasetId loans = *ledger.declare("loans", pure_budget(1));
  SeededEntropy entropy(1, "noise");
  Drawn<Laplace> noise(*Laplace::make(1000), 1, entropy);
  ASSERT_TRUE(
      ledger.pay(loans, some_query("job", 1), bounded_for_test({1}, 100), std::move(noise)));
  EXPECT_DEATH(
      (void)ledger.pay(loans, some_query("job", 2), bounded_for_test({1}, 100), std::move(noise)),
      "check failed");
}

TEST_F(LedgerTest, InMemoryARunReplaysWithItsReceipts) {
  const auto run = [&](uint64_t seed) {
    SeededEntropy entropy(seed, "noise");
    Ledger ledger = *Ledger::open_volatile("bank-a", clock, Simulated{});
    const DatasetId loans = *ledger.declare("loans", pure_budget(1));
    for (uint32_t round = 1; round <= 3; ++round)
      *ledger.pay(loans, some_query("job", round), bounded_for_test({1, 2}, 100),
                  Drawn<Laplace>(*Laplace::make(1000), 2, entropy));
    return ledger.head();
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST_F(LedgerTest, WhoeverWritesPastTheLockIsNoticedBeforeTheNextAnswer) {
  Ledger ledger = open();
  const DatasetId loans = *ledger.declare("loans", pure_budget(1));
  ASSERT_TRUE(pay(ledger, loans, some_query("job", 1)));
  Connection other = *Connection::write(file);
  ASSERT_TRUE(other.run("DROP TRIGGER charge_is_kept; DELETE FROM charge WHERE id = 2"));
  EXPECT_EQ(pay(ledger, loans, some_query("job", 1)).error().code, Code::kIntegrity);
  EXPECT_EQ(pay(ledger, loans, some_query("job", 2)).error().code, Code::kIntegrity);
  EXPECT_EQ(ledger.declare("fraud", pure_budget(1)).error().code, Code::kIntegrity);
}

}  // namespace ledger_test
}  // namespace parley::ledger
