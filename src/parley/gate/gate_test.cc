#include "parley/gate/gate.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "parley/base/number.h"
#include "parley/learn/kernel/kernel.h"
#include "support/entropy.h"
#include "support/ledgers.h"

namespace parley::gate {
namespace {

using test::StoppedClock, test::SeededEntropy, test::uniform;

constexpr uint32_t kAnswers = 3;
constexpr size_t kRows = 200;

std::shared_ptr<const learn::Rows> some_rows() {
  SeededEntropy entropy(1, "gate rows");
  auto rows = std::make_shared<learn::Rows>(2);
  for (size_t i = 0; i < kRows; ++i)
    rows->add(std::array{2 * uniform(entropy) - 1, 1.0}, uniform(entropy));
  return rows;
}

Terms some_terms(double epsilon = 1) {
  const auto lattice = *learn::Lattice::make(4, 24, 2);
  Terms terms{
      .charter = {},
      .rows = kRows,
      .answers = kAnswers,
      .box = 1,
      .unit_records = 1,
      .loss = learn::Squared{},
      .lattice = lattice,
      .mechanism = *privacy::Laplace::calibrate(ClipAndSum::sensitivity<L1>(lattice, 1), kAnswers,
                                                *privacy::Epsilon::make(epsilon))};
  terms.charter[0] = 7;
  return terms;
}

struct GateTest : testing::Test {
  StoppedClock clock;
  SeededEntropy entropy{2, "gate"};
  ledger::Ledger ledger = *ledger::Ledger::open_volatile("bank-a", clock);
  ledger::DatasetId dataset =
      *ledger.declare("loans", *privacy::Budget::make(privacy::Epsilon{1.0}, 0, 1));

  Result<Gate> open(Terms terms = some_terms(), int threads = 1) {
    return Gate::open(Records(some_rows()), std::move(terms), ledger, dataset, entropy, threads);
  }
};

TEST_F(GateTest, AnswersAsManyRoundsAsTheCharterSaysAndNoMore) {
  Gate gate = *open();
  for (uint32_t round = 1; round <= kAnswers; ++round) {
    const auto released = gate.answer(round, std::array{.1, .2});
    ASSERT_TRUE(released);
    EXPECT_EQ(released->values().size(), 2u);
    EXPECT_EQ(released->receipt().round, round);
    EXPECT_NEAR(released->receipt().epsilon_spent, round / 3.0, 1e-6);
  }
  const auto refused = gate.answer(kAnswers + 1, std::array{.1, .2});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kPolicy);
  EXPECT_LE(ledger.spent(dataset).pure, 1);
}

TEST_F(GateTest, RefusesAThetaThatIsNotFiniteOrOutsideTheBoxOrOfAnotherSize) {
  Gate gate = *open();
  const double infinity = std::numeric_limits<double>::infinity();
  for (double bad : {std::nan(""), infinity, -infinity, next_up(1.0), -1.5}) {
    const auto refused = gate.answer(1, std::array{.1, bad});
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().code, Code::kInvalid);
  }
  EXPECT_FALSE(gate.answer(1, std::array{.1}));
  EXPECT_FALSE(gate.answer(1, std::array{.1, .1, .1}));
  EXPECT_FALSE(gate.answer(0, std::array{.1, .1}));
  EXPECT_EQ(ledger.spent(dataset).pure, 0) << "a refusal costs nothing";
  EXPECT_TRUE(gate.answer(1, std::array{1.0, -1.0})) << "the box itself is inside";
}

TEST_F(GateTest, RefusesRoundsOutOfOrderAndAnotherThetaForTheSameRound) {
  Gate gate = *open();
  EXPECT_EQ(gate.answer(2, std::array{.1, .2}).error().code, Code::kIntegrity);
  ASSERT_TRUE(gate.answer(1, std::array{.1, .2}));
  const double spent = ledger.spent(dataset).pure;
  const auto other = gate.answer(1, std::array{.1, .20000001});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::kIntegrity);
  EXPECT_EQ(ledger.spent(dataset).pure, spent);
}

TEST_F(GateTest, ARepeatedQueryGetsTheStoredAnswerForNothing) {
  Gate gate = *open();
  const auto first = gate.answer(1, std::array{.1, .2});
  const double spent = ledger.spent(dataset).pure;
  Gate again = *open();  // As after a restart: other noise has been drawn by now.
  for (Gate* each : {&gate, &again}) {
    const auto repeated = each->answer(1, std::array{.1, .2});
    ASSERT_TRUE(repeated);
    EXPECT_EQ(repeated->values(), first->values());
    EXPECT_EQ(repeated->receipt(), first->receipt());
  }
  EXPECT_EQ(ledger.spent(dataset).pure, spent);
  EXPECT_TRUE(again.answer(2, std::array{.1, .2})) << "and goes on from there";
}

TEST_F(GateTest, RefusesAJobItCannotPayToItsEndBeforeTheFirstAnswer) {
  const auto refused = open(some_terms(1.01));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kBudgetExhausted);
  EXPECT_EQ(ledger.spent(dataset).pure, 0);
}

TEST_F(GateTest, RefusesDataThatAreNotTheCharters) {
  Terms terms = some_terms();
  terms.rows = kRows + 1;
  EXPECT_EQ(open(terms).error().code, Code::kInvalid);
  terms = some_terms();
  terms.lattice = *learn::Lattice::make(4, 24, 3);
  EXPECT_FALSE(open(terms));
}

TEST_F(GateTest, TheAnswerIsTheSameOnAnyNumberOfThreads) {
  std::vector<std::vector<int64_t>> answers;
  for (int threads : {1, 2, 3, 8}) {
    ledger::Ledger own = *ledger::Ledger::open_volatile("bank-a", clock);
    const auto data = *own.declare("loans", *privacy::Budget::make(privacy::Epsilon{1.0}, 0, 1));
    SeededEntropy same(5, "threads");
    Gate gate = *Gate::open(Records(some_rows()), some_terms(), own, data, same, threads);
    answers.push_back(gate.answer(1, std::array{.3, -.4})->values());
  }
  for (const auto& answer : answers) EXPECT_EQ(answer, answers[0]);
}

// Else a learner could ask where only some records' products are denormal, which takes longer. The
// records here are so large that such a theta would be seen in the answer.
TEST_F(GateTest, AThetaTooSmallToMeanAnythingIsZero) {
  auto rows = std::make_shared<learn::Rows>(2);
  for (size_t i = 0; i < kRows; ++i) rows->add(std::array{1e140, 0.0}, 1);
  const auto answer_at = [&](double theta) {
    ledger::Ledger own = *ledger::Ledger::open_volatile("bank-a", clock);
    const auto data = *own.declare("loans", *privacy::Budget::make(privacy::Epsilon{1.0}, 0, 1));
    SeededEntropy same(5, "tiny");
    Gate gate = *Gate::open(Records(rows), some_terms(), own, data, same, 1);
    return gate.answer(1, std::array{theta, .0})->values();
  };
  EXPECT_EQ(answer_at(1e-138), answer_at(0));
  EXPECT_NE(answer_at(1e-130), answer_at(0));
}

// The noise really is there, and of the stated scale: the mean size of Laplace(t) is t. 1000
// answers of two coordinates; the standard error is t / sqrt(2000) = 2.2 %, 15 % is 6.7 of them
// (1e-10).
TEST_F(GateTest, AnswersCarryTheNoiseThatIsCharged) {
  const Terms terms = some_terms();
  const auto exact =
      learn::lattice_sum<L1>(terms.loss, terms.lattice, std::array{.0, .0}, *some_rows(), 0, kRows);
  double size = 0;
  for (int i = 0; i < 1000; ++i) {
    ledger::Ledger own = *ledger::Ledger::open_volatile("bank-a", clock);
    const auto data = *own.declare("loans", *privacy::Budget::make(privacy::Epsilon{1.0}, 0, 1));
    Gate gate = *Gate::open(Records(some_rows()), terms, own, data, entropy, 1);
    const auto values = gate.answer(1, std::array{.0, .0})->values();
    for (size_t j = 0; j < 2; ++j) size += std::fabs(double(values[j] - exact[j])) / 2000;
  }
  const double scale = double(std::get<privacy::Laplace>(terms.mechanism).scale());
  EXPECT_NEAR(size / scale, 1, 0.15);
}

}  // namespace
}  // namespace parley::gate
