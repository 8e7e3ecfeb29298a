#include "parley/gate/gate.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <limits>

#include "parley/base/math/number.h"
#include "parley/learn/kernel/kernel.h"
#include "parley/ledger/simulated.h"
#include "support/entropy.h"
#include "support/ledgers.h"

namespace parley::gate {
namespace gate_test {

using test::StoppedClock, test::SeededEntropy, test::uniform;

constexpr uint32_t kAnswers = 3;
constexpr size_t kRows = 200;

std::shared_ptr<const data::Rows> some_rows() {
  SeededEntropy entropy(1, "gate rows");
  auto rows = std::make_shared<data::Rows>(2);
  for (size_t i = 0; i < kRows; ++i)
    rows->add(std::array{2 * uniform(entropy) - 1, 1.0}, uniform(entropy));
  return rows;
}

plan::Terms some_terms(double epsilon = 1) {
  const auto lattice = *learn::Lattice::make(4, 24, 2);
  plan::Terms terms{
      .charter = {},
      .rows = kRows,
      .answers = kAnswers,
      .box = 1,
      .unit_records = 1,
      .loss = learn::Squared{},
      .lattice = lattice,
      .mechanism = *privacy::Laplace::calibrate(plan::sensitivity<L1>(lattice, 1), kAnswers,
                                                *privacy::Epsilon::make(epsilon))};
  terms.charter[0] = 7;
  return terms;
}

struct GateTest : testing::Test {
  StoppedClock clock;
  SeededEntropy entropy{2, "gate"};
  ledger::Ledger ledger = *ledger::Ledger::open_volatile("bank-a", clock, ledger::Simulated{});
  ledger::DatasetId dataset =
      *ledger.declare("loans", *privacy::Budget::make(privacy::Epsilon{1.0}, 0, 1));

  Result<Gate> open(plan::Terms terms = some_terms(), int threads = 1) {
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

TEST_F(GateTest, PaysNothingOnceItIsAskedToStopAndGivesWhatWasPaid) {
  std::atomic<bool> stop = false;
  const std::array theta{.1, .2};
  Gate gate = *Gate::open(Records(some_rows()), some_terms(), ledger, dataset, entropy, {2, stop});
  const auto first = gate.answer(1, theta);
  const double spent = ledger.spent(dataset).pure;
  stop = true;
  const auto interrupted = gate.answer(2, theta);
  ASSERT_FALSE(interrupted);
  EXPECT_EQ(interrupted.error().code, Code::kUnavailable);
  EXPECT_EQ(ledger.spent(dataset).pure, spent);
  EXPECT_EQ(gate.last_round(), 1u);
  EXPECT_EQ(gate.answer(1, theta)->values(), first->values()) << "which left already";
  stop = false;
  EXPECT_TRUE(gate.answer(2, theta)) << "as after the next start";
}

// With noise of a few hundred beside sums of millions.
TEST_F(GateTest, APassThatIsAskedToStopLooksAtNoFurtherRecord) {
  const auto data =
      *ledger.declare("all", *privacy::Budget::make(*privacy::Epsilon::make(1e6), 0, 1e6));
  const plan::Terms terms = some_terms(1e6);
  const auto first_of_sum = [&](uint32_t round, Stop stop) {
    auto sum = ClipAndSum::gradient<L1>(Records(some_rows()), terms.loss, terms.lattice,
                                        std::array{.1, .2}, 1, {2, stop});
    const auto paid = ledger.pay(
        data, {terms.charter, round}, std::move(sum),
        privacy::Drawn<privacy::Laplace>(std::get<privacy::Laplace>(terms.mechanism), 2, entropy));
    return std::abs(paid->values()[0]);
  };
  const std::atomic<bool> stop = true;
  EXPECT_GT(first_of_sum(1, {}), 1'000'000);
  EXPECT_LT(first_of_sum(2, stop), 100'000);
}

TEST_F(GateTest, RefusesAJobItCannotPayToItsEndBeforeTheFirstAnswer) {
  const auto refused = open(some_terms(1.01));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kBudgetExhausted);
  EXPECT_EQ(ledger.spent(dataset).pure, 0);
}

TEST_F(GateTest, RefusesDataThatAreNotTheCharters) {
  plan::Terms terms = some_terms();
  terms.rows = kRows + 1;
  EXPECT_EQ(open(terms).error().code, Code::kInvalid);
  terms = some_terms();
  terms.lattice = *learn::Lattice::make(4, 24, 3);
  EXPECT_FALSE(open(terms));
}

TEST_F(GateTest, TheAnswerIsTheSameOnAnyNumberOfThreads) {
  std::vector<std::vector<int64_t>> answers;
  for (int threads : {1, 2, 3, 8}) {
    ledger::Ledger own = *ledger::Ledger::open_volatile("bank-a", clock, ledger::Simulated{});
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
  auto rows = std::make_shared<data::Rows>(2);
  for (size_t i = 0; i < kRows; ++i) rows->add(std::array{1e140, 0.0}, 1);
  const auto answer_at = [&](double theta) {
    ledger::Ledger own = *ledger::Ledger::open_volatile("bank-a", clock, ledger::Simulated{});
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
  const plan::Terms terms = some_terms();
  const auto exact =
      learn::lattice_sum<L1>(terms.loss, terms.lattice, std::array{.0, .0}, *some_rows(), 0, kRows);
  double size = 0;
  for (int i = 0; i < 1000; ++i) {
    ledger::Ledger own = *ledger::Ledger::open_volatile("bank-a", clock, ledger::Simulated{});
    const auto data = *own.declare("loans", *privacy::Budget::make(privacy::Epsilon{1.0}, 0, 1));
    Gate gate = *Gate::open(Records(some_rows()), terms, own, data, entropy, 1);
    const auto values = gate.answer(1, std::array{.0, .0})->values();
    for (size_t j = 0; j < 2; ++j) size += std::fabs(double(values[j] - exact[j])) / 2000;
  }
  const double scale = double(std::get<privacy::Laplace>(terms.mechanism).scale());
  EXPECT_NEAR(size / scale, 1, 0.15);
}

/// As some_terms, with four fifths of epsilon 1 for answers and one fifth for the evaluation.
plan::Terms evaluated_terms() {
  plan::Terms terms = some_terms(0.8);
  const auto map = *learn::EvaluationMap::make(terms.loss, 1, 24);
  const auto noise =
      *privacy::Laplace::calibrate(plan::sensitivity<L1>(map, 1), 1, *privacy::Epsilon::make(0.2));
  terms.evaluation = plan::Evaluation{map, noise};
  return terms;
}

constexpr std::array kModel = {.3, .4};

TEST_F(GateTest, EvaluatesOneModelAfterTheLastAnswerAndForNothingAgain) {
  Gate gate = *open(evaluated_terms());
  EXPECT_EQ(gate.evaluate(1, kModel).error().code, Code::kPolicy) << "no answer was given yet";
  for (uint32_t round = 1; round <= kAnswers; ++round) *gate.answer(round, kModel);
  EXPECT_FALSE(gate.is_done());
  const auto released = gate.evaluate(1, kModel);
  ASSERT_TRUE(released) << describe(released.error());
  EXPECT_TRUE(gate.is_done());
  EXPECT_EQ(released->receipt().kind, privacy::ReleaseKind::kEvaluation);
  EXPECT_NEAR(released->receipt().epsilon_spent, 1, 1e-6);
  EXPECT_LE(ledger.spent(dataset).pure, 1);
  EXPECT_EQ(gate.evaluate(1, kModel)->values(), released->values());
  EXPECT_EQ(gate.evaluate(1, std::array{.3, .5}).error().code, Code::kIntegrity);
  EXPECT_EQ(gate.evaluate(2, kModel).error().code, Code::kPolicy);
}

TEST_F(GateTest, AJobThatMayEndEarlyIsEvaluatedBeforeAllAnswersAndThatIsItsEnd) {
  plan::Terms terms = evaluated_terms();
  terms.may_end_early = true;
  Gate gate = *open(terms);
  const auto first = gate.answer(1, kModel);
  ASSERT_TRUE(gate.evaluate(1, kModel));
  EXPECT_TRUE(gate.is_done());
  EXPECT_EQ(gate.answer(2, kModel).error().code, Code::kPolicy) << "nothing follows it";
  EXPECT_EQ(gate.answer(1, kModel)->values(), first->values())
      << "what was paid for is given again";
  EXPECT_NEAR(ledger.spent(dataset).pure, 0.2 + 0.8 / kAnswers, 1e-6);
}

TEST_F(GateTest, RefusesAnEvaluationThatTheCharterDoesNotAskFor) {
  Gate gate = *open();
  for (uint32_t round = 1; round <= kAnswers; ++round) *gate.answer(round, kModel);
  EXPECT_EQ(gate.evaluate(1, kModel).error().code, Code::kPolicy);
}

TEST_F(GateTest, RefusesToEvaluateAModelOutsideTheBox) {
  Gate gate = *open(evaluated_terms());
  for (uint32_t round = 1; round <= kAnswers; ++round) *gate.answer(round, kModel);
  EXPECT_EQ(gate.evaluate(1, std::array{.3, 1.5}).error().code, Code::kInvalid);
  EXPECT_EQ(gate.evaluate(1, std::array{.3, std::nan("")}).error().code, Code::kInvalid);
}

TEST_F(GateTest, AJobWhoseEvaluationCannotBePaidIsRefusedBeforeItStarts) {
  plan::Terms terms = evaluated_terms();
  terms.mechanism = some_terms(0.9).mechanism;
  const auto refused = open(terms);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kBudgetExhausted);
  EXPECT_EQ(ledger.spent(dataset).pure, 0);
}

// The size of discrete Laplace noise has mean and standard deviation t (up to 1/t), so the mean of
// 3000 has 1.8 percent; it is further off than 10 percent with probability below 1e-6.
TEST_F(GateTest, TheNoiseOfEvaluationsHasTheScaleThatIsPaid) {
  constexpr int kJobs = 3000;
  const auto wide = *ledger.declare("wide", *privacy::Budget::make(privacy::Epsilon{1e5}, 0, 1e5));
  const auto rows = some_rows();
  plan::Terms terms = evaluated_terms();
  terms.answers = 1;
  const auto exact = learn::evaluation_sum(terms.evaluation->map, kModel, *rows, 0, kRows);
  const auto scale = double(std::get<privacy::Laplace>(terms.evaluation->mechanism).scale());
  double size = 0;
  for (int job = 0; job < kJobs; ++job) {
    terms.charter[1] = uint8_t(job), terms.charter[2] = uint8_t(job >> 8);
    Gate gate = *Gate::open(Records(rows), terms, ledger, wide, entropy, 1);
    *gate.answer(1, kModel);
    size += std::fabs(double(gate.evaluate(1, kModel)->values()[0] - exact[0])) / scale / kJobs;
  }
  EXPECT_NEAR(size, 1, 0.1);
  EXPECT_NEAR(scale, double(terms.evaluation->map.sensitivity<L1>()) / 0.2, 1e-6 * scale);
}

class CountedEntropy final : public Entropy {
 public:
  CountedEntropy() : Entropy(block_) {}
  void renew() override { ++renewed; }
  int renewed = 0;

 private:
  void refill() override {
    for (uint64_t& word : block_.words) word = words_.word();
    block_.left = kBlock;
  }
  SystemEntropy words_{};
  Block block_{};
};

// A clone of an owner's machine draws other noise for the next answer than the owner itself.
TEST(NoiseQueue, RenewsTheGeneratorForEachAnswer) {
  CountedEntropy entropy;
  NoiseQueue<privacy::Mechanisms> queue(8);
  const auto mechanism = privacy::Laplace::calibrate(1 << 20, 1, privacy::Epsilon(1.0));
  ASSERT_TRUE(mechanism);
  queue.fill(3, privacy::Mechanisms(*mechanism), 10, entropy);
  EXPECT_EQ(entropy.renewed, 3);
  queue.fill(100, privacy::Mechanisms(*mechanism), 10, entropy);
  EXPECT_EQ(entropy.renewed, 8) << "as many as it holds";
}

}  // namespace gate_test
}  // namespace parley::gate
