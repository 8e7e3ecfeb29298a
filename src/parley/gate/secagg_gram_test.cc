// What a learner may ask of an owner under rule gram and after an alarm, and in which order. It may
// claim an alarm whenever it likes: whatever it asks for costs no more than the promise.
#include <gtest/gtest.h>

#include <array>

#include "parley/gate/secagg_gate.h"
#include "parley/plan/budget.h"
#include "support/bounded.h"
#include "support/entropy.h"
#include "support/ledgers.h"
#include "support/memory_ledger.h"

namespace parley::gate {
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
const std::string kAlarm =
    "rule = \"pilot_newton\"\nrounds = 4\nstep = 1.0\non_alarm = \"gram\"\n";

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
