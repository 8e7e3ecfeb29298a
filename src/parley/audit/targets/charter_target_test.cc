// A charter's owner under attack, through its greeting, gate, ledger and bytes. Every certificate
// is wrong with probability at most 1e-6.
#include "parley/audit/targets/charter_target.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "parley/audit/audit.h"
#include "support/audited.h"

namespace parley::audit {
namespace charter_target_test {

constexpr double kAlpha = 1e-6;

constexpr std::string_view kCharter = R"(
[charter]
version    = 1
name       = "attacked"
consortium = "audit.example"
[target]
column = "y"
bounds = [-1.0, 1.0]
[[column]]
name    = "a"
kind    = "number"
bounds  = [-1.0, 1.0]
missing = 0.0
[[column]]
name    = "b"
kind    = "number"
bounds  = [-1.0, 1.0]
missing = 0.0
[model]
loss = "squared"
box  = 1.0
[protocol]
name   = "sync"
rule   = "algorithm2"
rounds = 2
step   = 1.0
[privacy]
mechanism     = "laplace"
max_grad_norm = 3.0
evaluate      = 0.0
[[owner]]
name    = "one"
rows    = 1000
epsilon = 2.0
[[owner]]
name    = "two"
rows    = 10
epsilon = 1.0
[learner]
name = "learner"
)";

charter::Charter charter_with(const std::vector<charter::Override>& changes,
                              std::string_view text = kCharter) {
  const auto read = charter::parse_charter(text, "test", ".", changes);
  EXPECT_TRUE(read) << describe(read.error());
  return *read;
}

Audit attacked(const charter::Charter& charter, size_t owner, uint64_t runs,
               Method method = Method::kTwoWorld) {
  const auto target = charter_target(charter, owner);
  EXPECT_TRUE(target) << describe(target.error());
  const auto audit = run(*target, method, {.runs = runs, .alpha = kAlpha});
  EXPECT_TRUE(audit) << describe(audit.error());
  return *audit;
}

TEST(CharterAudit, LaplacePassesAndFourUnitsAreFlagged) {
  const Audit audit = attacked(charter_with({}), 0, 1000);
  EXPECT_NEAR(audit.claimed.epsilon, 2, 1e-6);
  EXPECT_EQ(audit.claimed.delta, 0);
  EXPECT_TRUE(audit.passes()) << test::described(audit);
  EXPECT_GT(audit.found.epsilon(), 0.5) << "the attack is too weak";
  EXPECT_GT(audit.control->epsilon(), audit.claimed.epsilon) << test::described(audit);
}

TEST(CharterAudit, GaussianPassesAndFourUnitsAreFlagged) {
  const Audit audit = attacked(
      charter_with(
          {{"privacy.mechanism", "gaussian"}, {"privacy.delta", "1e-5"}, {"owner.0.epsilon", "4"}}),
      0, 600);
  EXPECT_NEAR(audit.claimed.epsilon, 4, 1e-6);
  EXPECT_EQ(audit.claimed.delta, 1e-5);
  EXPECT_TRUE(audit.passes()) << test::described(audit);
  EXPECT_GT(*audit.found.gaussian, 0) << "the attack is too weak";
  EXPECT_GT(audit.control->epsilon(), audit.claimed.epsilon) << test::described(audit);
}

/// The same charter with a target of two classes.
std::string with_classes() {
  std::string text(kCharter);
  const std::string bounds = "bounds = [-1.0, 1.0]";
  return text.replace(text.find(bounds), bounds.size(), "levels = [\"no\", \"yes\"]");
}

TEST(CharterAudit, AttacksEveryLossAndSizeOfUnit) {
  for (const std::string loss : {"squared", "hinge", "logistic", "huber"}) {
    const bool classes = loss == "hinge" || loss == "logistic";
    const auto charter = charter_with({{"model.loss", loss}, {"privacy.unit_records", "3"}},
                                      classes ? with_classes() : std::string(kCharter));
    const Audit audit = attacked(charter, 1, 256);
    EXPECT_NEAR(audit.claimed.epsilon, 1, 1e-6);
    EXPECT_TRUE(audit.passes()) << loss << test::described(audit);
    EXPECT_GT(audit.control->epsilon(), 0) << loss << test::described(audit);
  }
}

// What one of two data sets may spend of a person's epsilon is what its ledger says.
TEST(CharterAudit, TheClaimIsWhatTheLedgerSays) {
  const auto target =
      charter_target(charter_with({{"privacy.overlap", "2"}, {"privacy.evaluate", "0.5"}}), 0);
  ASSERT_TRUE(target) << describe(target.error());
  EXPECT_NEAR(target->claimed.epsilon, 0.5, 1e-6);
}

TEST(CharterAudit, OneRunPassesAndFourUnitsAreFlagged) {
  const auto charter = charter_with({{"protocol.rounds", "1"}, {"owner.0.epsilon", "1.0"}});
  const Audit audit = attacked(charter, 0, 1000, Method::kOneRun);
  EXPECT_TRUE(audit.passes()) << test::described(audit);
  EXPECT_GT(audit.control->epsilon(), audit.claimed.epsilon) << test::described(audit);
}

TEST(CharterAudit, ALearnerThatAsksAnAsynchronousOwnerAtWillLearnsNoMoreThanItsCap) {
  std::string text(kCharter);
  const std::string sync = "name   = \"sync\"\nrule   = \"algorithm2\"\nrounds = 2";
  ASSERT_NE(text.find(sync), std::string::npos);
  text.replace(text.find(sync), sync.size(), "name = \"async\"\nrounds = 4\nanswers = 3");
  for (const char* contact : {"owner_requests", "broadcast"}) {
    const auto charter = charter_with({{"protocol.contact", contact},
                                       {"protocol.rates", "declared"},
                                       {"protocol.step", "0.01"},
                                       {"owner.0.rate", "1.0"},
                                       {"owner.1.rate", "1.0"}},
                                      text);
    const Audit audit = attacked(charter, 0, 1000);
    EXPECT_NEAR(audit.claimed.epsilon, 2, 1e-6) << contact;
    EXPECT_TRUE(audit.passes()) << contact << test::described(audit);
    EXPECT_GT(audit.control->epsilon(), audit.claimed.epsilon) << contact << test::described(audit);
  }
}

TEST(CharterAudit, RefusesADraft) {
  std::string text(kCharter);
  text.replace(text.find("rounds = 2"), 10, "");
  const auto draft = charter::parse_charter(text, "test", ".");
  ASSERT_TRUE(draft) << describe(draft.error());
  EXPECT_EQ(charter_target(*draft, 0).error().code, Code::kInvalid);
  EXPECT_EQ(charter_target(*draft, 0).error().where.key, "protocol.rounds");
}

}  // namespace charter_target_test
}  // namespace parley::audit
