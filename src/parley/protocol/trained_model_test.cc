#include "parley/protocol/trained_model.h"

#include <gtest/gtest.h>

#include "parley/plan/budget.h"
#include "parley/privacy/budget/tracks.h"
#include "support/federated_job.h"

namespace parley::protocol {
namespace trained_model_test {

/// Three clinics at epsilon 2 and delta 1e-6. What a ledger says depends on its policy's delta.
learn::PrivacyCard card_at(double rho, double delta) {
  const charter::Charter charter = test::clinics_charter();
  const auto budget = privacy::Budget::make(privacy::Epsilon(1.0), delta, 0);
  const double epsilon = privacy::Spent{.rho = rho}.epsilon(budget->delta_convert);
  Trained trained{.theta = {0, 0}};
  trained.spent.assign(3, {epsilon, 0, budget->delta_convert});
  trained.answers.assign(3, 2);
  return trained_model(charter, trained, {}).card;
}

TEST(PrivacyCard, EpsilonIsThatOfTheDeltaBesideIt) {
  const double rho = *plan::rho_of(2, 1e-6), expected = *plan::epsilon_of(rho, 1e-6);
  for (const double delta : {1e-9, 1e-7, 1e-6, 1e-5, 1e-3}) {
    const learn::PrivacyCard card = card_at(rho, delta);
    for (const auto& owner : card.owners) {
      EXPECT_EQ(owner.delta, 1e-6);
      EXPECT_GE(owner.epsilon, expected) << delta;
      EXPECT_LE(owner.epsilon, expected * (1 + 1e-6)) << delta;
    }
  }
}

TEST(PrivacyCard, EpsilonsAreConvertedUpwards) {
  for (const double epsilon : {.1, 1., 8.}) {
    EXPECT_EQ(privacy::epsilon_at(epsilon, 1e-6, 1e-6), epsilon);
    EXPECT_EQ(privacy::epsilon_at(epsilon, 0, 1e-6), epsilon);
    EXPECT_LT(privacy::epsilon_at(epsilon, 1e-6, 1e-4), epsilon);
    EXPECT_GE(privacy::epsilon_at(privacy::epsilon_at(epsilon, 1e-6, 1e-4), 1e-4, 1e-6), epsilon);
    EXPECT_TRUE(std::isinf(privacy::epsilon_at(epsilon, 1e-6, 0)));
  }
}

TEST(PrivacyCard, SaysForSumsHowManyMayWorkTogether) {
  const auto card = card_at(.1, 1e-6);
  ASSERT_EQ(card.not_covered.back(), "answer times");
  EXPECT_TRUE(
      std::any_of(card.not_covered.begin(), card.not_covered.end(),
                  [](const std::string& each) { return each.starts_with("more than 1 owners"); }));
}

}  // namespace trained_model_test
}  // namespace parley::protocol
