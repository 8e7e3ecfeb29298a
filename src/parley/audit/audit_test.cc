// The auditor against everything that is shipped, which must pass; against everything that is
// planted see studies/planted/. Every certificate is wrong with probability at most 1e-6, and each
// audit states what it would have found.
#include "parley/audit/audit.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "parley/audit/one_run.h"
#include "parley/audit/targets/mechanisms.h"
#include "support/audited.h"

namespace parley::audit {
namespace audit_test {

constexpr double kAlpha = 1e-6;

using test::described;

class ListedMechanism : public testing::TestWithParam<std::string_view> {};

INSTANTIATE_TEST_SUITE_P(Audit, ListedMechanism, testing::ValuesIn(mechanism_names()),
                         [](const auto& name) { return std::string(name.param); });

TEST_P(ListedMechanism, PassesAndAFaultOfFourIsFlagged) {
  for (const uint32_t answers : {1u, 5u})
    for (const double sensitivity : {1.0, 1000.0, 0x1p25}) {
      const auto target =
          mechanism_target(GetParam(), {.answers = answers, .sensitivity = sensitivity});
      ASSERT_TRUE(target) << describe(target.error());
      EXPECT_LE(target->claimed.epsilon, 1);
      const auto audit = run(*target, Method::kTwoWorld, {.runs = 100'000, .alpha = kAlpha});
      ASSERT_TRUE(audit);
      EXPECT_TRUE(audit->passes()) << described(*audit);
      // Skellam's charge is twice the truth for a shift of 1, which has the same norm in L1 and L2.
      const double tight = GetParam() == "skellam" && sensitivity == 1 ? 0.3 : 0.5;
      EXPECT_GT(audit->found.epsilon(), target->claimed.epsilon * tight) << "too weak an attack";
      EXPECT_GT(audit->control->epsilon(), 1.5 * target->claimed.epsilon) << described(*audit);
    }
}

TEST_P(ListedMechanism, PassesInOneRunAndAFaultOfFourIsFlagged) {
  const auto target = mechanism_target(GetParam(), {.delta = 1e-9});
  ASSERT_TRUE(target) << describe(target.error());
  const auto audit = run(*target, Method::kOneRun, {.runs = 40'000, .alpha = kAlpha});
  ASSERT_TRUE(audit);
  EXPECT_TRUE(audit->passes()) << described(*audit);
  EXPECT_GT(audit->control->epsilon(), 1) << described(*audit);
}

// The Laplace event is tight: a noise that is 10 % too small would be certified.
TEST(Audit, OfLaplaceIsTight) {
  const auto target = mechanism_target("laplace", {});
  const auto audit = run(*target, Method::kTwoWorld, {.runs = 1'000'000, .alpha = kAlpha});
  EXPECT_TRUE(audit->passes()) << described(*audit);
  EXPECT_GT(audit->found.clopper_pearson, 0.95);
  EXPECT_FALSE(audit->found.gaussian) << "its noise is not claimed to be Gaussian";
}

TEST(Audit, OfAnUnknownNameSaysWhereToLook) {
  EXPECT_NE(mechanism_target("magic", {}).error().hint.find("--list"), std::string::npos);
}

TEST(Audit, IsTheSameOnAnyNumberOfThreads) {
  const auto target = mechanism_target("laplace", {});
  const auto once = two_world(target->play, target->claimed, {.runs = 3000, .seed = 5});
  const auto again =
      two_world(target->play, target->claimed, {.runs = 3000, .seed = 5, .threads = 3});
  EXPECT_EQ(once->clopper_pearson, again->clopper_pearson);
  const auto other = two_world(target->play, target->claimed, {.runs = 3000, .seed = 6});
  EXPECT_NE(once->clopper_pearson, other->clopper_pearson);
}

TEST(Audit, EndsWhenToldTo) {
  const auto target = mechanism_target("laplace", {});
  uint64_t seen = 0;
  const auto audit = two_world(
      target->play, target->claimed,
      {.runs = 10'000'000, .go_on = [&](uint64_t plays) { return (seen += plays) < 10'000; }});
  ASSERT_FALSE(audit);
  EXPECT_EQ(audit.error().code, Code::kFailed);
}

TEST(Audit, ReportsAPlayThatFails) {
  const Play broken = [](World, Entropy&) -> Result<double> {
    return Error{Code::kPolicy, "no answer"};
  };
  const auto audit = two_world(broken, {1, 0}, {.runs = 100, .threads = 2});
  ASSERT_FALSE(audit);
  EXPECT_EQ(audit.error().what, "no answer");
}

// Choosing and counting on the same plays would certify something of pure noise.
TEST(Audit, ProvesNothingAboutWorldsThatAreTheSame) {
  const Play same = [](World, Entropy& entropy) -> Result<double> {
    return double(entropy.word() >> 11);
  };
  for (uint64_t seed = 1; seed <= 200; ++seed)
    EXPECT_EQ(two_world(same, {1, 0}, {.runs = 1000, .seed = seed})->clopper_pearson, 0);
}

TEST(Audit, OfOneRunNeedsCanaries) {
  auto without = mechanism_target("laplace", {});
  without->canaries = nullptr;
  EXPECT_EQ(run(*without, Method::kOneRun, {.runs = 1000}).error().code, Code::kInvalid);
  const auto few = mechanism_target("laplace", {});
  EXPECT_EQ(run(*few, Method::kOneRun, {.runs = 19}).error().code, Code::kInvalid);
  EXPECT_EQ(run(*few, Method::kTwoWorld, {.runs = 1}).error().code, Code::kInvalid);
}

}  // namespace audit_test
}  // namespace parley::audit
