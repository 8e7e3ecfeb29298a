#include "parley/gate/secagg_gate.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "parley/ledger/read.h"
#include "parley/plan/budget.h"
#include "support/bounded.h"
#include "support/entropy.h"
#include "support/ledgers.h"
#include "support/memory_ledger.h"

namespace parley::gate {
namespace share_gate_test {

/// Three owners of four records each, and one of them with its ledger in a file.
class SecaggGateTest : public testing::Test {
 protected:
  SecaggGateTest() {
    auto rows = std::make_shared<data::Rows>(2);
    rows->add(std::array{3., 4.}, 1.);  // Longer than allowed.
    rows->add(std::array{.5, -.5}, -1.);
    rows->add(std::array{0., .25}, 1.);
    rows->add(std::array{-1., 0.}, -1.);
    rows_ = rows;
  }

  charter::Charter charter(const std::string& secure = "repeats = 1\n") const {
    std::string text =
        "[charter]\nversion = 1\nname = \"clinics\"\nconsortium = \"clinics.example\"\n"
        "[target]\ncolumn = \"sick\"\nlevels = [\"no\", \"yes\"]\n"
        "[[column]]\nname = \"x\"\ncount = 2\nkind = \"number\"\nbounds = [-9.0, 9.0]\n"
        "missing = 0.0\n[model]\nloss = \"logistic\"\nl2 = 0.1\nbox = 4.0\n"
        "[protocol]\nname = \"federated\"\nrounds = 2\nlocal_steps = 3\nstep = 0.5\n"
        "[privacy]\nmax_row_norm = 1.0\ndelta = 1e-6\n[secure_aggregation]\n" +
        secure;
    for (const char* name : {"a", "b", "c"})
      text += std::string("[[owner]]\nname = \"") + name + "\"\nrows = 4\nepsilon = 2.0\n";
    text += "[learner]\nname = \"registry\"\n";
    auto parsed = charter::parse_charter(text, "test.charter.toml", ".");
    EXPECT_TRUE(parsed) << (parsed ? "" : describe(parsed.error()));
    return *parsed;
  }

  Result<SecaggGate> open(double epsilon = 2, Stop stop = {}) {
    if (!ledger_) {
      ledger_.emplace(*ledger::Ledger::open(folder_ / "ledger.db", "a", clock_));
      dataset_ = *ledger_->declare(
          "data", *privacy::Budget::make(*privacy::Epsilon::make(epsilon), 1e-6, 0));
    }
    auto plan = plan::secagg_plan(charter());
    EXPECT_TRUE(plan) << (plan ? "" : describe(plan.error()));
    return SecaggGate::open(Records(data::AnyRows(rows_)), plan->owners[0], *ledger_, dataset_,
                            entropy_, {1, stop});
  }

  static privacy::Mask mask() { return privacy::MaskForTest::make({~uint64_t{0} - 5, 1ull << 63}); }

  std::filesystem::path folder_ = test::fresh_folder();
  test::StoppedClock clock_;
  test::SeededEntropy entropy_{1, "owner a"};
  std::shared_ptr<const data::Rows> rows_;
  std::optional<ledger::Ledger> ledger_;
  ledger::DatasetId dataset_{};
  const std::vector<double> theta_ = {.5, -.25};
};

TEST_F(SecaggGateTest, WhatLeavesAndWhatIsKeptIsUnderTheMask) {
  auto gate = open();
  ASSERT_TRUE(gate) << describe(gate.error());
  const auto masked = gate->share(1, theta_, mask());
  ASSERT_TRUE(masked) << describe(masked.error());
  const auto contents = ledger::read(folder_ / "ledger.db");
  ASSERT_TRUE(contents) << describe(contents.error());
  EXPECT_EQ(contents->rows.back().answer, bytes_of(masked->values()));
  EXPECT_EQ(contents->rows.back().event, gate->terms().event());
  EXPECT_EQ(contents->rows.back().cost, gate->terms().cost().amount);
  EXPECT_EQ(masked->receipt().round, 1u);
  EXPECT_EQ(masked->receipt().query, share_query_hash(gate->terms().charter, 1, theta_));
  // Without the mask: no coordinate is larger than an update and 12 deviations of a share.
  const auto open = privacy::MaskForTest::on(
      privacy::MaskForTest::make({6, 1ull << 63}),
      {static_cast<uint64_t>(masked->values()[0]), static_cast<uint64_t>(masked->values()[1])});
  const auto& share = std::get<privacy::GaussianShare>(gate->terms().mechanism);
  const double most =
      gate->terms().update().largest() / gate->terms().gamma + 12 * std::sqrt(share.variance());
  for (const uint64_t word : open)
    EXPECT_LE(std::fabs(static_cast<double>(static_cast<int64_t>(word))), most);
}

TEST_F(SecaggGateTest, AnotherAggregationOfTheSamePointIsAnotherPaymentWithOtherNoise) {
  auto gate = open();
  ASSERT_TRUE(gate);
  const auto first = gate->share(1, theta_, mask()), again = gate->share(1, theta_, mask());
  ASSERT_TRUE(first && again);
  EXPECT_NE(first->values(), again->values());
  EXPECT_EQ(again->receipt().round, 2u);
  EXPECT_GT(again->receipt().epsilon_spent, first->receipt().epsilon_spent);
}

TEST_F(SecaggGateTest, AfterTheLastOneNothingIsPaidAlsoInAnotherProcess) {
  {
    auto gate = open();
    ASSERT_TRUE(gate);
    for (uint32_t attempt = 1; attempt <= 3; ++attempt)
      ASSERT_TRUE(gate->share(attempt, theta_, mask())) << attempt;  // Two rounds and a repeat.
    EXPECT_TRUE(gate->is_done());
    EXPECT_EQ(gate->share(4, theta_, mask()).error().code, Code::kPolicy);
  }
  auto gate = open();
  ASSERT_TRUE(gate);
  EXPECT_EQ(gate->paid(), 3u);
  EXPECT_EQ(gate->share(5, theta_, mask()).error().code, Code::kPolicy);
  EXPECT_LE(ledger_->spent(dataset_).rho, ledger_->budget(dataset_).rho_max);
}

TEST_F(SecaggGateTest, PaysNothingOnceItIsAskedToStop) {
  std::atomic<bool> stop = false;
  auto gate = open(2, stop);
  ASSERT_TRUE(gate);
  stop = true;
  EXPECT_EQ(gate->share(1, theta_, mask()).error().code, Code::kUnavailable);
  EXPECT_EQ(gate->paid(), 0u);
  EXPECT_EQ(ledger_->spent(dataset_).rho, 0);
  stop = false;
  EXPECT_TRUE(gate->share(1, theta_, mask())) << "as after the next start";
}

TEST_F(SecaggGateTest, AThetaOutsideTheBoxIsRefusedAndCostsNothing) {
  auto gate = open();
  ASSERT_TRUE(gate);
  for (const std::vector<double>& theta :
       {std::vector<double>{5, 0}, std::vector<double>{NAN, 0}, std::vector<double>{1}})
    EXPECT_EQ(gate->share(1, theta, mask()).error().code, Code::kInvalid);
  EXPECT_EQ(gate->paid(), 0u);
}

TEST_F(SecaggGateTest, ABudgetThatDoesNotLastToTheEndIsRefusedBeforeTheStart) {
  EXPECT_EQ(open(1.9).error().code, Code::kBudgetExhausted);
}

TEST_F(SecaggGateTest, TheRingIsProvedFromTheCharterAndWhatMayOverflowIsRefused) {
  const auto plan = plan::secagg_plan(charter());
  ASSERT_TRUE(plan);
  const auto& share = std::get<privacy::GaussianShare>(plan->owners[0].mechanism);
  EXPECT_GE(share.variance(), 0x1p20);
  EXPECT_LE(plan->gamma * std::sqrt(2.), 1e-3 * plan->owners[0].update().sensitivity());
  EXPECT_LT(plan->largest, 0x1p63);
  // Ever more noise, until that of many owners together no longer fits.
  charter::Charter many = charter();
  many.model.loss = charter::Loss::kSquared;
  many.owners.resize(300, many.owners[0]);
  many.secure_aggregation->survivors = 240, many.secure_aggregation->colluders = 60;
  many.secure_aggregation->graph = charter::Graph::kSparse;
  many.secure_aggregation->threshold = 0;  // as it follows
  many.privacy.max_grad_norm = 1e12;
  Result<plan::SecaggPlan> last = plan::secagg_plan(many);
  for (; last; last = plan::secagg_plan(many)) {
    EXPECT_LT(last->largest, 0x1p63);
    many.privacy.max_grad_norm *= 1.2;
  }
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().where.key, "protocol.local_steps") << last.error().what;
}

TEST_F(SecaggGateTest, NoiseIsEnoughForTheOwnerThatNeedsMost) {
  charter::Charter unequal = charter();
  unequal.owners[1].epsilon = .5;
  unequal.owners[2].rows = 2;
  const auto plan = plan::secagg_plan(unequal);
  ASSERT_TRUE(plan);
  const uint32_t answers = plan->owners[0].answers;
  for (size_t i = 0; i < 3; ++i) {
    const auto epsilon = *privacy::Epsilon::make(unequal.owners[i].epsilon);
    const double rho = privacy::Budget::make(epsilon, 1e-6, 0)->rho_max;
    EXPECT_LE(answers * plan->owners[i].cost().amount, rho * (1 + 1e-12)) << i;
    EXPECT_EQ(plan->owners[i].cost().amount > .9 * rho / answers, i == 1) << i;
  }
}

}  // namespace share_gate_test

// What a learner may ask of an owner under rule gram and after an alarm, and in which order. It may
// claim an alarm whenever it likes: whatever it asks for costs no more than the promise.
namespace secagg_gram_test {

using enum privacy::ReleaseKind;

charter::Charter charter_of(const std::string& protocol, int repeats) {
  std::string text =
      "[charter]\nversion = 1\nname = \"clinics\"\nconsortium = \"clinics.example\"\n"
      "[pilot]\nfile = \"p.csv\"\nsha256 = \"" +
      std::string(64, '0') +
      "\"\nrows = 300\n[target]\ncolumn = \"sick\"\nlevels = [\"no\", \"yes\"]\n"
      "[[column]]\nname = \"x\"\ncount = 2\nkind = \"number\"\nbounds = [-1.0, 1.0]\n"
      "missing = 0.0\n[model]\nloss = \"logistic\"\nl2 = 0.1\nbox = 4.0\n"
      "[protocol]\nname = \"sync\"\n" +
      protocol + "[privacy]\nmax_grad_norm = 1.0\ndelta = 1e-6\n[secure_aggregation]\nrepeats = " +
      std::to_string(repeats) + "\n";
  for (const char* name : {"a", "b", "c"})
    text += std::string("[[owner]]\nname = \"") + name + "\"\nrows = 4\nepsilon = 2.0\n";
  auto parsed = charter::parse_charter(text + "[learner]\nname = \"registry\"\n", "test", ".");
  EXPECT_TRUE(parsed) << (parsed ? "" : describe(parsed.error()));
  return *parsed;
}

const std::string kRule = "rule = \"gram\"\nrounds = 3\n";
const std::string kAlarm = "rule = \"pilot_newton\"\nrounds = 4\nstep = 1.0\non_alarm = \"gram\"\n";

/// An owner whose ledger has room for far more than this job: what it gives is for its gate to say.
class Asked {
 public:
  Asked(const std::string& protocol, int repeats)
      : dataset_(*ledger_.declare("data", *privacy::Budget::make(privacy::Epsilon{50.0}, 1e-6, 0))),
        gate_(opened(charter_of(protocol, repeats))) {}

  bool give(privacy::ReleaseKind kind) {
    const size_t numbers = gate_.terms().of(kind) ? gate_.numbers(kind) : 2;
    return bool(gate_.share(++attempt_, std::vector<double>{.5, -.25},
                            privacy::MaskForTest::make(std::vector<uint64_t>(numbers, 7)), kind));
  }
  /// How many more it gives of this kind.
  int all(privacy::ReleaseKind kind) {
    int given = 0;
    while (give(kind)) ++given;
    return given;
  }
  double rho() const { return ledger_.spent(dataset_).rho; }

 private:
  SecaggGate opened(const charter::Charter& charter) {
    auto rows = std::make_shared<data::Rows>(2);
    for (int i = 0; i < 4; ++i) rows->add(std::array{.5 * i, 1. - i}, i % 2 ? 1. : -1.);
    auto plan = plan::secagg_plan(charter);
    EXPECT_TRUE(plan) << (plan ? "" : describe(plan.error()));
    auto gate = SecaggGate::open(Records(data::AnyRows(std::shared_ptr<const data::Rows>(rows))),
                                 plan->owners[0], ledger_, dataset_, entropy_, 1);
    EXPECT_TRUE(gate) << (gate ? "" : describe(gate.error()));
    return *std::move(gate);
  }

  test::StoppedClock clock_;
  test::SeededEntropy entropy_{1, "owner a"};
  ledger::Ledger ledger_ = test::memory_ledger("a", clock_);
  ledger::DatasetId dataset_;
  SecaggGate gate_;
  uint32_t attempt_ = 0;
};

TEST(SecaggGram, TheMatrixComesFirstAndNotAgain) {
  Asked owner(kRule, 1);
  EXPECT_FALSE(owner.give(kAnswer)) << "before the matrix";
  EXPECT_FALSE(owner.give(kAfterAlarm)) << "the charter has none";
  EXPECT_TRUE(owner.give(kGram));
  EXPECT_TRUE(owner.give(kGram)) << "a sum may fail once";
  EXPECT_FALSE(owner.give(kGram));
  EXPECT_EQ(owner.all(kAnswer), 3 + 1);
  EXPECT_FALSE(owner.give(kGram));
}

TEST(SecaggGram, NoMatrixAfterTheFirstGradient) {
  Asked owner(kRule, 1);
  EXPECT_TRUE(owner.give(kGram));
  EXPECT_TRUE(owner.give(kAnswer));
  EXPECT_FALSE(owner.give(kGram)) << "though one is left";
}

TEST(SecaggGram, AfterAnAlarmTheOtherAnswersAreNotGiven) {
  Asked owner(kAlarm, 0);
  EXPECT_FALSE(owner.give(kAfterAlarm)) << "before the matrix";
  EXPECT_TRUE(owner.give(kAnswer));
  EXPECT_TRUE(owner.give(kGram));
  EXPECT_FALSE(owner.give(kAnswer)) << "the alarm has ended these";
  EXPECT_EQ(owner.all(kAfterAlarm), 5);
  EXPECT_FALSE(owner.give(kGram));
}

TEST(SecaggGram, NoAlarmAfterTheSecondAnswer) {
  Asked owner(kAlarm, 0);
  EXPECT_TRUE(owner.give(kAnswer));
  EXPECT_TRUE(owner.give(kAnswer));
  EXPECT_FALSE(owner.give(kGram));
  EXPECT_EQ(owner.all(kAnswer), 2);
}

// Every order in which a learner may take all that it can get.
TEST(SecaggGram, WhateverIsAskedStaysWithinThePromise) {
  const double promised = *plan::rho_of(2, 1e-6);
  for (const int repeats : {0, 1, 2})
    for (const int before : {0, 1, 2, 3, 9}) {
      Asked owner(kAlarm, repeats);
      for (int i = 0; i < before; ++i) owner.give(kAnswer);
      for (const auto kind : {kGram, kAnswer, kAfterAlarm, kGram, kAnswer}) owner.all(kind);
      EXPECT_LE(owner.rho(), promised) << repeats << " " << before;
      EXPECT_GT(owner.rho(), .2 * promised) << "shows nothing";
    }
}

}  // namespace secagg_gram_test

}  // namespace parley::gate
