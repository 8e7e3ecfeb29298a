// Everything is paid alike, promises only grow, and what an older copy forgot is noticed and
// booked.
#include <gtest/gtest.h>

#include "parley/base/files.h"
#include "parley/ledger/ledger.h"
#include "parley/ledger/price.h"
#include "parley/ledger/read.h"
#include "parley/ledger/simulated.h"
#include "support/bounded.h"
#include "support/ledgers.h"

namespace parley::ledger {
namespace ledger_rows_test {

using namespace test;
namespace fs = std::filesystem;
using privacy::ReleaseKind;

struct RowsTest : testing::Test {
  ~RowsTest() override { fs::remove_all(folder); }
  Ledger open() { return *Ledger::open(file, "bank-a", clock); }
  Query query_of(ReleaseKind kind, uint32_t round, std::string_view charter = "job") {
    Query query = some_query(charter, round);
    query.kind = kind;
    return query;
  }
  /// Pays for some rounds and keeps what left, as a learner does.
  void pay_rounds(Ledger& ledger, DatasetId loans, uint32_t from, uint32_t to,
                  std::string_view charter = "job") {
    for (uint32_t round = from; round <= to; ++round) {
      const auto answer = *pay(ledger, loans, some_query(charter, round));
      left.push_back({answer.receipt(), answer.values()});
      bytes.push_back(bytes_of(answer));
    }
  }
  const fs::path folder = fresh_folder();
  const fs::path file = folder / "ledger.db", backup = folder / "backup.db";
  StoppedClock clock;
  std::vector<Returned> left;
  std::vector<Bytes> bytes;
};

TEST_F(RowsTest, ReleasesOfEveryKindArePaidAlikeAndNumberedForThemselves) {
  Ledger ledger = open();
  const DatasetId loans = *ledger.declare("loans", pure_budget(1.05));
  std::map<ReleaseKind, Bytes> first;
  for (const auto kind : {ReleaseKind::kAnswer, ReleaseKind::kEvaluation, ReleaseKind::kCount,
                          ReleaseKind::kGram, ReleaseKind::kAfterAlarm}) {
    EXPECT_EQ(pay(ledger, loans, query_of(kind, 2)).error().code, Code::kIntegrity);
    const auto released = pay(ledger, loans, query_of(kind, 1));
    ASSERT_TRUE(released);
    first[kind] = bytes_of(*released);
    EXPECT_EQ(released->receipt().kind, kind);
    ASSERT_TRUE(pay(ledger, loans, query_of(kind, 2)));
    EXPECT_EQ(ledger.last_round(some_hash("job"), kind), 2u);
  }
  EXPECT_NEAR(ledger.spent(loans).pure, 1, 1e-9);
  EXPECT_EQ(pay(ledger, loans, query_of(ReleaseKind::kCount, 3)).error().code,
            Code::kBudgetExhausted);
  for (const auto& [kind, released] : first) {
    EXPECT_EQ(bytes_of(*pay(ledger, loans, query_of(kind, 1))), released) << "replayed";
    Query other = query_of(kind, 1);
    other.query = some_hash("another question");
    EXPECT_EQ(pay(ledger, loans, other).error().code, Code::kIntegrity);
  }
  EXPECT_EQ(verify(file)->rows, 11);
}

TEST_F(RowsTest, ARaisedBudgetIsChainedAndOlderReceiptsStayAsTheyWere) {
  const auto budget = [](double epsilon, double delta) {
    return *privacy::Budget::make(*privacy::Epsilon::make(epsilon), delta, 0.1);
  };
  Ledger ledger = open();
  const DatasetId loans = *ledger.declare("loans", budget(1, 1e-6));
  SystemEntropy entropy;
  const auto gaussian = [&](uint32_t round) {
    return ledger.pay(loans, some_query("job", round), privacy::BoundedForTest::make<L2>({1}, 1),
                      privacy::Drawn<privacy::Gaussian>(*privacy::Gaussian::make(100), 1, entropy));
  };
  const Bytes before = bytes_of(*gaussian(1));
  EXPECT_EQ(ledger.raise("loans", budget(0.9, 1e-6)).error().code, Code::kPolicy);
  EXPECT_EQ(ledger.raise("fraud", budget(2, 1e-6)).error().code, Code::kInvalid);
  const Hash head = ledger.head();
  EXPECT_TRUE(ledger.raise("loans", budget(1, 1e-6)));
  EXPECT_EQ(ledger.head(), head) << "the same again is nothing";
  EXPECT_EQ(ledger.declare("loans", budget(2, 1e-5)).error().code, Code::kPolicy)
      << "a policy alone raises nothing";
  ASSERT_TRUE(ledger.raise("loans", budget(2, 1e-5)));
  EXPECT_EQ(*ledger.declare("loans", budget(2, 1e-5)), loans);
  ASSERT_TRUE(gaussian(2));
  EXPECT_EQ(bytes_of(*gaussian(1)), before);
  EXPECT_EQ(verify(file)->rows, 4);
}

TEST_F(RowsTest, OneDataSetProtectsOneUnitOverAllItsCharters) {
  Ledger ledger = open();
  const DatasetId loans = *ledger.declare("loans", pure_budget(1));
  EXPECT_EQ(*ledger.declare("loans", pure_budget(1), "member"), loans) << "nothing is charged yet";
  ASSERT_TRUE(pay(ledger, loans, some_query("job", 1)));
  const Error error = ledger.declare("loans", pure_budget(1), "record").error();
  EXPECT_EQ(error.code, Code::kPolicy);
  EXPECT_NE(error.what.find("member"), std::string::npos) << error.what;
  EXPECT_EQ(*ledger.declare("loans", pure_budget(1), "member"), loans);
  EXPECT_EQ(*ledger.declare("loans", pure_budget(1), ""), loans)
      << "who does not know, asks nothing";
  EXPECT_EQ(verify(file)->rows, 3);
  EXPECT_EQ(read(file)->datasets[0].unit, "member");
}

TEST_F(RowsTest, AnApprovalIsOneRowThatSaysWhoAndWhen) {
  Ledger ledger = open();
  const DatasetId loans = *ledger.declare("loans", pure_budget(1));
  const auto approve = [&](std::string by, std::string at) {
    return ledger.decide(loans, some_hash("job"),
                         Decision{.by = std::move(by), .at = std::move(at)});
  };
  EXPECT_FALSE(ledger.is_approved(some_hash("job")));
  EXPECT_FALSE(approve("ali\"ce", "today"));
  ASSERT_TRUE(approve("alice", "2026-11-15T08:00:00Z"));
  ASSERT_TRUE(approve("bob", "2026-11-15T09:00:00Z")) << "once is enough";
  EXPECT_TRUE(ledger.is_approved(some_hash("job")));
  const Contents contents = *read(file);
  ASSERT_EQ(contents.rows.size(), 2u);
  EXPECT_EQ(contents.rows[1].kind, "approval");
  EXPECT_EQ(contents.rows[1].charter, some_hash("job"));
  EXPECT_EQ(contents.rows[1].event, R"({"approved":{"by":"alice","at":"2026-11-15T08:00:00Z"}})");
}

TEST_F(RowsTest, AnOlderCopyIsNoticedByAnyLaterReceiptAndPaysNothingUntilItIsRestored) {
  {
    Ledger ledger = open();
    const DatasetId loans = *ledger.declare("loans", pure_budget(1));
    pay_rounds(ledger, loans, 1, 2);
  }
  fs::copy_file(file, backup);
  {
    Ledger ledger = open();
    pay_rounds(ledger, *ledger.declare("loans", pure_budget(1)), 3, 5);
  }
  fs::copy_file(backup, file, fs::copy_options::overwrite_existing);
  {
    Ledger ledger = open();
    const DatasetId loans = *ledger.declare("loans", pure_budget(1));
    EXPECT_TRUE(ledger.recognise(loans, some_hash("job"), left[1].receipt));
    const Error error = ledger.recognise(loans, some_hash("job"), left[3].receipt).error();
    EXPECT_EQ(error.code, Code::kIntegrity);
    EXPECT_NE(error.what.find("older copy"), std::string::npos) << error.what;
    EXPECT_NE(error.hint.find("parley ledger reconcile"), std::string::npos);
    EXPECT_FALSE(ledger.recognise(loans, some_hash("job"), left[3].receipt));
  }
  Ledger ledger = open();
  const DatasetId loans = *ledger.declare("loans", pure_budget(1));
  EXPECT_EQ(ledger.missing(), 1u) << "also after a restart, and noted once";
  EXPECT_EQ(pay(ledger, loans, some_query("job", 3)).error().code, Code::kIntegrity);
  EXPECT_EQ(pay(ledger, loans, some_query("new job", 1)).error().code, Code::kIntegrity);
  EXPECT_EQ(ledger.can_afford(loans, {privacy::Track::kPure, 0}, 1).error().code, Code::kIntegrity);
  EXPECT_EQ(bytes_of(*pay(ledger, loans, some_query("job", 2))), bytes[1])
      << "replays cost nothing";

  const auto incomplete = ledger.restore(loans, some_hash("job"), std::span(left).subspan(3));
  EXPECT_EQ(incomplete.error().code, Code::kIntegrity) << "round 3 was left out";
  EXPECT_EQ(ledger.missing(), 1u);
  const auto done = ledger.restore(loans, some_hash("job"), left);
  ASSERT_TRUE(done) << describe(done.error());
  EXPECT_EQ(done->known, 2u);
  EXPECT_EQ(done->booked, 3u);
  EXPECT_EQ(ledger.missing(), 0u);
  EXPECT_DOUBLE_EQ(ledger.spent(loans).pure, 0.5);
  for (uint32_t round = 1; round <= 5; ++round) {
    EXPECT_EQ(bytes_of(*pay(ledger, loans, some_query("job", round))), bytes[round - 1]) << round;
    EXPECT_TRUE(ledger.recognise(loans, some_hash("job"), left[round - 1].receipt));
  }
  EXPECT_EQ(ledger.restore(loans, some_hash("job"), left)->known, 5u) << "once";
  EXPECT_TRUE(pay(ledger, loans, some_query("job", 6)));
  EXPECT_EQ(verify(file)->rows, 1 + 2 + 1 + 2 * 3 + 1);
}

TEST_F(RowsTest, WhereAnotherAnswerTookThePlaceBothArePaidAlsoBeyondTheBudget) {
  {
    Ledger ledger = open();
    const DatasetId loans = *ledger.declare("loans", pure_budget(0.2));
    fs::copy_file(file, backup);
    pay_rounds(ledger, loans, 1, 2);
  }
  fs::copy_file(backup, file, fs::copy_options::overwrite_existing);
  fs::remove(file.string() + "-wal");
  Ledger ledger = open();
  const DatasetId loans = *ledger.declare("loans", pure_budget(0.2));
  const Bytes again = bytes_of(*pay(ledger, loans, some_query("job", 1)));
  ASSERT_NE(again, bytes[0]) << "fresh noise: this is what a restored snapshot costs";
  const auto done = ledger.restore(loans, some_hash("job"), left);
  ASSERT_TRUE(done) << describe(done.error());
  EXPECT_EQ(done->beside, 1u);
  EXPECT_EQ(done->booked, 1u);
  EXPECT_GT(ledger.spent(loans).pure, 0.29);
  EXPECT_EQ(bytes_of(*pay(ledger, loans, some_query("job", 1))), again);
  EXPECT_EQ(bytes_of(*pay(ledger, loans, some_query("job", 2))).size(), bytes[1].size());
  EXPECT_EQ(pay(ledger, loans, some_query("job", 3)).error().code, Code::kBudgetExhausted);
  EXPECT_EQ(verify(file)->rows, 6);
}

// Under secure aggregation a payment may reach nobody, and then no transcript has it.
TEST_F(RowsTest, PaymentsForSumsThatReachedNobodyAreBookedWithTheReceiptAfterThem) {
  const auto budget = *privacy::Budget::make(privacy::Epsilon{2.0}, 1e-6, 0);
  const auto share = *privacy::GaussianShare::make(1e6, *privacy::Parties::make(5, 4, 1), 1);
  SystemEntropy entropy;
  const auto pay_part = [&](Ledger& ledger, DatasetId loans, uint32_t round) {
    return *ledger.pay_share(loans, some_query("job", round),
                             privacy::BoundedForTest::make<L2>({7}, 100),
                             privacy::Drawn<privacy::GaussianShare>(share, 1, entropy),
                             privacy::MaskForTest::make({uint64_t{1} << 63}));
  };
  double spent = 0;
  {
    Ledger ledger = open();
    const DatasetId loans = *ledger.declare("loans", budget);
    for (uint32_t round = 1; round <= 6; ++round) {
      const auto part = pay_part(ledger, loans, round);
      if (round != 4 && round != 5) left.push_back({part.receipt(), part.values()});
      if (round == 2) fs::copy_file(file, backup);
    }
    spent = ledger.spent(loans).rho;
  }
  fs::copy_file(backup, file, fs::copy_options::overwrite_existing);
  fs::remove(file.string() + "-wal");
  {
    Ledger ledger = open();
    const DatasetId loans = *ledger.declare("loans", budget);
    const uint32_t known = ledger.last_round(some_hash("job"));
    EXPECT_LE(known, 2u);
    const auto done = ledger.restore(loans, some_hash("job"), left);
    ASSERT_TRUE(done) << describe(done.error());
    EXPECT_EQ(done->known + done->booked, 4u);
    EXPECT_EQ(done->lost, 2u);
    EXPECT_DOUBLE_EQ(ledger.spent(loans).rho, spent);
    EXPECT_EQ(ledger.restore(loans, some_hash("job"), left)->known, 4u) << "once";
  }
  Ledger ledger = open();  // The whole chain is verified.
  const DatasetId loans = *ledger.declare("loans", budget);
  EXPECT_TRUE(ledger.recognise(loans, some_hash("job"), left.back().receipt));
  const auto next = pay_part(ledger, loans, 7);
  EXPECT_EQ(next.receipt().job, privacy::job_after(left.back().receipt.job, next.receipt().query,
                                                   next.receipt().answer))
      << "the learner goes on from the receipt that it has";
}

TEST_F(RowsTest, WhatIsRestoredMustCarryTheNumbersOfItsReceipt) {
  Ledger other = *Ledger::open_volatile("bank-a", clock, Simulated{});
  pay_rounds(other, *other.declare("loans", pure_budget(1)), 1, 1);
  left[0].values[0] += 1;
  Ledger ledger = open();
  const DatasetId loans = *ledger.declare("loans", pure_budget(1));
  EXPECT_EQ(ledger.restore(loans, some_hash("job"), left).error().code, Code::kIntegrity);
  left[0].values.clear();
  EXPECT_EQ(ledger.restore(loans, some_hash("job"), left).error().code, Code::kIntegrity);
  EXPECT_EQ(ledger.spent(loans).pure, 0);
}

TEST(Price, OfAReceiptsEventIsWhatTheMechanismCosts) {
  for (const uint64_t scale : {1000ull, 3ull, 123456789ull})
    for (const double sensitivity : {1.0, 100.0, 0.3, 7e5}) {
      const auto laplace = *privacy::Laplace::make(scale);
      const auto cost = price_of(laplace.event(sensitivity));
      ASSERT_TRUE(cost);
      EXPECT_EQ(cost->amount, laplace.cost(sensitivity).amount);
      EXPECT_EQ(cost->track, privacy::Track::kPure);
      const auto gaussian = *privacy::Gaussian::make(static_cast<double>(scale * 1000));
      EXPECT_EQ(price_of(gaussian.event(sensitivity))->amount, gaussian.cost(sensitivity).amount);
      EXPECT_EQ(price_of(gaussian.event(sensitivity))->track, privacy::Track::kZcdp);
      const auto skellam = *privacy::Skellam::make(0x1p44, 12);
      EXPECT_EQ(price_of(skellam.event(sensitivity))->amount, skellam.cost(sensitivity).amount);
    }
  EXPECT_EQ(price_of(R"({"approximate_dp":{"epsilon":0.5,"delta":1e-9}})")->delta, 1e-9);
  EXPECT_FALSE(price_of("{}"));
  EXPECT_FALSE(price_of("nonsense"));
}

}  // namespace ledger_rows_test
}  // namespace parley::ledger
