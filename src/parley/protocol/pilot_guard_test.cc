#include "parley/protocol/pilot_guard.h"

#include <gtest/gtest.h>

#include "parley/base/math/seeded_random.h"
#include "parley/plan/learner/sync_plan.h"

namespace parley::protocol {
namespace pilot_guard_test {

/// One column and a bias, squared loss, one owner of 1,000 rows with little noise.
charter::Charter charter_of(const std::string& more = "") {
  auto charter = charter::parse_charter(
      "[charter]\nversion = 1\nname = \"one\"\nconsortium = \"banks.example\"\n"
      "[pilot]\nfile = \"pilot.csv\"\nsha256 = \"" +
          std::string(64, '0') +
          "\"\nrows = 200\n[target]\ncolumn = \"y\"\nbounds = [-1.0, 1.0]\n"
          "[[column]]\nname = \"x\"\nkind = \"number\"\nbounds = [-1.0, 1.0]\nmissing = 0.0\n"
          "[model]\nloss = \"squared\"\nbox = 5.0\nbias = true\n"
          "[protocol]\nname = \"sync\"\nrule = \"pilot_newton\"\nrounds = 3\nstep = 1.0\n" +
          more +
          "[privacy]\nmax_grad_norm = 2.0\nevaluate = 0.0\n"
          "[[owner]]\nname = \"bank\"\nrows = 1000\nepsilon = 10.0\n[learner]\nname = \"c\"\n",
      "test", ".");
  EXPECT_TRUE(charter) << (charter ? "" : describe(charter.error()));
  return *charter;
}

struct Guarded {
  PilotGuard guard;
  std::vector<double> start;
};
Guarded guarded(const std::string& more = "") {
  SeededRandom random(1, 1);
  data::Rows pilot(2);
  for (int i = 0; i < 200; ++i) {
    const double x = 2 * random.uniform() - 1;
    pilot.add(std::vector<double>{x, 1}, .5 * x + .1 * random.normal());
  }
  const auto charter = charter_of(more);
  const auto plan = plan::sync_plan(charter, &pilot);
  EXPECT_TRUE(plan) << (plan ? "" : describe(plan.error()));
  auto test = plan::PilotTest::make(charter, &pilot, plan->schedule, plan->owners);
  EXPECT_TRUE(test && test->has_value());
  return {PilotGuard(**std::move(test)), plan->schedule.start};
}

const std::vector<size_t> kAll{0};
using Vector = std::vector<double>;

TEST(PilotGuard, AdmitsWhatThePilotPredicts) {
  auto [guard, start] = guarded();
  EXPECT_FALSE(guard.check());
  EXPECT_TRUE(guard.admits(start, Vector{0, 0}, kAll));
  ASSERT_TRUE(guard.check());
  EXPECT_FALSE(guard.check()->alarm || guard.holds());
  EXPECT_TRUE(guard.admits(start, Vector{1, 1}, kAll)) << "the first answers only";
  EXPECT_FALSE(guard.best());
}

const std::string kAsk = "on_alarm = \"ask\"\n";

TEST(PilotGuard, SaysSoAndGoesOnUnlessTheCharterWantsMore) {
  auto [guard, start] = guarded();
  EXPECT_TRUE(guard.admits(start, Vector{.8, -.8}, kAll));
  EXPECT_TRUE(guard.check()->alarm && !guard.holds());
}

TEST(PilotGuard, HoldsAndAsks) {
  auto [guard, start] = guarded(kAsk);
  EXPECT_FALSE(guard.admits(start, Vector{.8, -.8}, kAll));
  EXPECT_TRUE(guard.asks() && !guard.stopped());
  EXPECT_FALSE(guard.decide(wire::Note{.kind = wire::Note::Kind::kAlarm, .round = 2}));
  EXPECT_EQ(guard.decide(true), (Vector{.8, -.8}));
  EXPECT_FALSE(guard.holds());
  EXPECT_FALSE(guard.decide(wire::Note{.kind = wire::Note::Kind::kAlarm, .round = 1}))
      << "it was decided";
}

TEST(PilotGuard, StopsIfTheCharterSaysSoOrAPersonDoes) {
  auto [said, start] = guarded("on_alarm = \"stop\"\n");
  EXPECT_FALSE(said.admits(start, Vector{.8, -.8}, kAll));
  EXPECT_TRUE(said.stopped() && !said.asks());
  auto [asked, same] = guarded(kAsk);
  EXPECT_FALSE(asked.admits(same, Vector{.8, -.8}, kAll));
  EXPECT_FALSE(asked.decide(false));
  EXPECT_TRUE(asked.stopped());
}

// Squares with curvature 1 around (3, 0): gradients are theta - (3, 0), and estimated losses exact.
TEST(PilotGuard, KeepsTheBestIterateAfterAnAlarm) {
  auto [guard, start] = guarded(kAsk);
  const auto at = [&](const Vector& theta) {
    return guard.admits(theta, Vector{theta[0] - 3, theta[1]}, kAll);
  };
  EXPECT_FALSE(at({0, 0}));
  guard.decide(true);
  EXPECT_TRUE(at({2, 0}));
  EXPECT_FALSE(guard.best()) << "the last is the best";
  EXPECT_TRUE(at({9, 0}));  // Overshot.
  ASSERT_TRUE(guard.best());
  EXPECT_EQ(Vector(guard.best()->begin(), guard.best()->end()), (Vector{2, 0}));
}

TEST(PilotGuard, TestsNothingUnderOtherRules) {
  PilotGuard guard;
  EXPECT_TRUE(guard.admits(Vector{0, 0}, Vector{9, 9}, kAll));
  EXPECT_FALSE(guard.check() || guard.holds());
}

}  // namespace pilot_guard_test
}  // namespace parley::protocol
