// After dropouts, and without what colluders know, the noise in the sum is what was charged.
#include <gtest/gtest.h>

#include <cmath>

#include "parley/gate/secagg_gate.h"
#include "parley/ledger/simulated.h"
#include "support/entropy.h"
#include "support/ledgers.h"
#include "support/statistics.h"

namespace parley::gate {
namespace share_noise_test {

constexpr size_t kOwners = 10, kColumns = 10;
constexpr uint32_t kRounds = 1000;

struct Case {
  const char *mechanism, *protocol, *norm;
};
constexpr char kLocal[] = "name = \"federated\"\nlocal_steps = 2\nstep = 0.5\n";
constexpr char kSync[] = "name = \"sync\"\nrule = \"constant\"\nstep = 0.5\n";
constexpr Case kCases[] = {{"gaussian", kLocal, "max_row_norm"},
                           {"skellam", kLocal, "max_row_norm"},
                           {"gaussian", kSync, "max_grad_norm"}};

charter::Charter charter_with(const Case& of) {
  std::string text =
      "[charter]\nversion = 1\nname = \"clinics\"\nconsortium = \"clinics.example\"\n"
      "[target]\ncolumn = \"sick\"\nlevels = [\"no\", \"yes\"]\n"
      "[[column]]\nname = \"x\"\ncount = 10\nkind = \"number\"\nbounds = [-9.0, 9.0]\n"
      "missing = 0.0\n[model]\nloss = \"logistic\"\nl2 = 0.1\nbox = 4.0\n"
      "[protocol]\n" +
      std::string(of.protocol) + "rounds = " + std::to_string(kRounds) + "\n[privacy]\n" + of.norm +
      " = 1.0\ndelta = 1e-6\nmechanism = \"" + of.mechanism +
      "\"\n[secure_aggregation]\nrepeats = 0\nsurvivors = 8\ncolluders = 2\n";
  for (size_t i = 0; i < kOwners; ++i)
    text += "[[owner]]\nname = \"clinic-" + std::to_string(i) + "\"\nrows = 2\nepsilon = 3.0\n";
  return *charter::parse_charter(text + "[learner]\nname = \"registry\"\n", "test", ".");
}

std::vector<int64_t> exact_part(const Records& records, const plan::SecaggTerms& terms,
                                const std::vector<double>& theta) {
  if (const auto* sum = std::get_if<plan::GradientSum>(&terms.part))
    return privacy::BoundedForTest::values(
        ClipAndSum::gradient<L2>(records, sum->loss, sum->lattice, theta, 1, 1));
  return privacy::BoundedForTest::values(
      ClipAndSum::update(records, terms.update(), terms.gamma, theta, 0, 1));
}

/// Of one owner, all rounds: what it adds to the sum beyond its update.
std::vector<double> noise_of(const plan::SecaggPlan& plan, size_t owner) {
  auto rows = std::make_shared<data::Rows>(kColumns);
  const std::vector<double> record(kColumns, .1 * double(owner + 1)), theta(kColumns, .25);
  rows->add(record, 1.);
  rows->add(record, -1.);
  const Records records{data::AnyRows(std::shared_ptr<const data::Rows>(rows))};
  test::StoppedClock clock;
  test::SeededEntropy entropy(1, "clinic " + std::to_string(owner));
  ledger::Ledger ledger = *ledger::Ledger::open_volatile("clinic", clock, ledger::Simulated{});
  const auto data = *ledger.declare("data", *privacy::Budget::make(privacy::Epsilon{3.0}, 1e-6, 0));
  auto gate = SecaggGate::open(records, plan.owners[owner], ledger, data, entropy, 1);
  const auto exact = exact_part(records, plan.owners[owner], theta);
  std::vector<double> noise;
  for (uint32_t round = 1; round <= kRounds; ++round) {
    const auto part =
        gate->share(round, theta, privacy::MaskForTest::make(std::vector<uint64_t>(kColumns)));
    for (size_t j = 0; j < kColumns; ++j) noise.push_back(double(part->values()[j] - exact[j]));
  }
  EXPECT_FALSE(gate->share(kRounds + 1, theta, privacy::MaskForTest::make({0})));  // All is paid.
  return noise;
}

class ShareNoise : public testing::TestWithParam<Case> {};

/// False alarms: 1e-6. A sixth less noise would be found with certainty.
TEST_P(ShareNoise, AfterTheMostDropoutsAndWithoutTheColludersIsWhatWasCharged) {
  const auto plan = plan::secagg_plan(charter_with(GetParam()));
  ASSERT_TRUE(plan);
  const double charged =
      std::visit([](const auto& known) { return known.variance(); }, plan->owners[0].mechanism) *
      plan->parties.honest();
  std::vector<double> sum(kRounds * kColumns), fewer(sum.size());
  const size_t honest = 6;  // of 8 survivors, 2 of whom collude
  ASSERT_EQ(plan->parties.honest(), honest);
  for (size_t owner = 0; owner < honest; ++owner) {
    const auto noise = noise_of(*plan, owner);
    for (size_t i = 0; i < sum.size(); ++i)
      sum[i] += noise[i], fewer[i] += owner > 0 ? noise[i] : 0;
  }
  const auto lower_tail = [&](const std::vector<double>& of) {
    double squares = 0;
    for (const double value : of) squares += value * value;
    return 1 - test::chi_square_tail(squares / charged, double(of.size()));
  };
  EXPECT_GE(lower_tail(sum), 1e-6);
  EXPECT_LT(lower_tail(fewer), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, ShareNoise, testing::ValuesIn(kCases));

}  // namespace share_noise_test
}  // namespace parley::gate
