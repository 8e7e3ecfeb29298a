#include "parley/audit/targets/federated_target.h"

#include <gtest/gtest.h>

#include <string>

#include "parley/audit/audit.h"
#include "parley/privacy/accounting/zcdp.h"

namespace parley::audit {
namespace federated_target_test {

struct Some {
  size_t owners = 4;
  double epsilon = 3;
  std::string protocol = "name = \"federated\"\nrounds = 1\nlocal_steps = 4\nstep = 0.5\n";
  std::string norm = "max_row_norm = 1.0\n";
  std::string pilot{};
};

charter::Charter some_charter(const Some& some) {
  std::string text =
      "[charter]\nversion = 1\nname = \"clinics\"\nconsortium = \"clinics.example\"\n" +
      some.pilot +
      "[target]\ncolumn = \"sick\"\nlevels = [\"no\", \"yes\"]\n"
      "[[column]]\nname = \"x\"\ncount = 3\nkind = \"number\"\nbounds = [-9.0, 9.0]\n"
      "missing = 0.0\n[model]\nloss = \"logistic\"\nl2 = 0.01\nbox = 100.0\n[protocol]\n" +
      some.protocol + "[privacy]\ndelta = 1e-5\n" + some.norm +
      "[secure_aggregation]\nrepeats = 0\n";
  for (size_t i = 0; i < some.owners; ++i)
    text += "[[owner]]\nname = \"clinic-" + std::to_string(i) +
            "\"\nrows = 100\nepsilon = " + std::to_string(some.epsilon) + "\n";
  return *charter::parse_charter(text + "[learner]\nname = \"registry\"\n", "test", ".");
}

/// At a confidence of 1 - 1e-6 a sound mechanism fails once in a million audits; with the noise of
/// a hundred times the budget the same attack must see more than is claimed, or it sees nothing.
void expect_sound(const charter::Charter& charter, size_t owner, uint64_t seed) {
  const auto target = federated_target(charter, owner);
  ASSERT_TRUE(target) << describe(target.error());
  EXPECT_GT(target->claimed.epsilon, 2.9);
  EXPECT_LE(target->claimed.epsilon, 3);
  const auto audit = run(*target, Method::kTwoWorld, {.runs = 150, .alpha = 1e-6, .seed = seed});
  ASSERT_TRUE(audit) << describe(audit.error());
  EXPECT_TRUE(audit->passes()) << audit->found.epsilon();
  ASSERT_TRUE(audit->control);
  EXPECT_GT(audit->control->epsilon(), target->claimed.epsilon);
}

TEST(FederatedAudit, NoiseInsideTheSumPassesAlsoAgainstColluders) {
  expect_sound(some_charter({.owners = 10}), 7, 1);
}

TEST(FederatedAudit, SumsOfGradientsPass) {
  expect_sound(some_charter({.protocol = "name = \"sync\"\nrule = \"constant\"\nrounds = 1\n"
                                         "step = 0.5\n",
                             .norm = "max_grad_norm = 1.0\n"}),
               0, 2);
}

TEST(FederatedAudit, DistancesPass) {
  expect_sound(some_charter({.protocol = "name = \"sync\"\nrule = \"distance\"\n",
                             .norm = "max_grad_norm = 1.0\n",
                             .pilot = "[pilot]\nfile = \"p\"\nrows = 8\nsha256 = \"" +
                                      std::string(64, 'a') + "\"\n"}),
               2, 5);
}

TEST(FederatedAudit, WholeOwnersPass) {
  expect_sound(some_charter({.protocol = "name = \"federated\"\nrounds = 3\nlocal_steps = 4\n"
                                         "step = 0.5\nweights = \"parties\"\nlevel = \"party\"\n"
                                         "max_update_norm = 0.01\n"}),
               3, 3);
}

/// The paper's Algorithm 1 read as it is printed: every owner draws the noise that the average
/// needs, and the average has the square root of m = 10 too little.
TEST(FederatedAudit, NoiseOfTheAverageDrawnByEveryOwnerIsFlagged) {
  const auto delta = *privacy::Delta::make(1e-5);
  const double too_little = privacy::zcdp_epsilon(10 * privacy::zcdp_rho(3, delta), delta);
  auto target = federated_target(some_charter({.owners = 10, .epsilon = too_little}), 0);
  ASSERT_TRUE(target) << describe(target.error());
  target->claimed.epsilon = 3, target->control = nullptr;
  const auto audit = run(*target, Method::kTwoWorld, {.runs = 400, .alpha = 1e-6, .seed = 4});
  ASSERT_TRUE(audit) << describe(audit.error());
  EXPECT_FALSE(audit->passes()) << audit->found.epsilon();
}

}  // namespace federated_target_test
}  // namespace parley::audit
