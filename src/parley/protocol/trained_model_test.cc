#include "parley/protocol/trained_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "parley/plan/budget.h"
#include "parley/plan/vertical_terms.h"
#include "parley/privacy/budget/tracks.h"
#include "support/federated_job.h"
#include "support/plan_charters.h"

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

/// What the card of a charter must say, by what the charter is.
std::vector<std::string> to_be_said(const charter::Charter& charter) {
  const charter::Protocol& protocol = charter.protocol;
  std::vector<std::string> all = {"an owner that lies about its data", "answer times"};
  const auto add = [&](bool if_so, std::initializer_list<const char*> lines) {
    if (if_so) all.insert(all.end(), lines.begin(), lines.end());
  };
  const bool columns = protocol.name() == charter::ProtocolName::kSharing;
  const bool noisy = protocol.rule() == charter::Rule::kNoisySharing;
  add(!columns, {"the pilot rows are public", "the number of rows of each owner is public"});
  add(charter.privacy.unit == "record", {"a person with more records"});
  add(charter.privacy.overlap > 1, {"more owners than overlap"});
  add(charter.secure_aggregation.has_value(), {"that work together with the learner"});
  add(protocol.distance(), {"how unlike an owner as a whole is"});
  add(columns, {"ids", "predictions: each opened score"});
  add(noisy, {"the labels: all owners know them"});
  const bool few = protocol.without_dealer() &&
                   plan::colluders_of(charter) + 1 < static_cast<int64_t>(charter.owners.size());
  add(protocol.without_dealer(), {"can test one guess"});
  add(protocol.without_dealer() && !few, {"together: the promise is against"});
  add(few, {"owners that pool what they know, or leave out their noise"});
  add(columns && !noisy && !protocol.without_dealer(),
      {"the learner deals the noise", "owners keep to the protocol"});
  return all;
}

TEST(PrivacyCard, SaysWhatIsNotCoveredUnderEveryRule) {
  std::set<charter::Rule> rules;
  size_t charters = 0;
  for (const test::PlanFamily& family :
       {test::sync_family(), test::statistics_family(), test::owners_family(), test::async_family(),
        test::sums_family(), test::federated_family(), test::sharing_family()})
    for (const test::PlanCase& one : family.cases) {
      if (!one.charter || !one.charter->complete()) continue;
      const size_t owners = one.charter->owners.size();
      Trained trained{.theta = {0, 0}};
      trained.spent.assign(owners, {.1, 0, 0});
      trained.answers.assign(owners, 1);
      const auto card = trained_model(*one.charter, trained, {}).card;
      for (const std::string& line : to_be_said(*one.charter))
        EXPECT_TRUE(std::any_of(
            card.not_covered.begin(), card.not_covered.end(),
            [&](const std::string& each) { return each.find(line) != std::string::npos; }))
            << family.name << ", " << one.name << ": " << line;
      EXPECT_EQ(std::set(card.not_covered.begin(), card.not_covered.end()).size(),
                card.not_covered.size());
      if (const auto rule = one.charter->protocol.rule()) rules.insert(*rule);
      ++charters;
    }
  EXPECT_GT(charters, 50u);
  EXPECT_EQ(rules.size(), charter::kNames<charter::Rule>.size());
}

}  // namespace trained_model_test
}  // namespace parley::protocol
