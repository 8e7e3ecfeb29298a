#include "studies/paper/federated.h"

#include <gtest/gtest.h>

#include <cmath>

#include "parley/privacy/accounting/gdp.h"
#include "support/entropy.h"

namespace parley::paper {
namespace federated_test {

const FederatedRule kOneStep{.rounds = 1, .step = [](int64_t) { return 1.0; }};

std::vector<double> flat(size_t, std::span<const double> at) {
  return std::vector<double>(at.size());
}

TEST(PaperFederated, DescendsWithoutNoise) {
  FederatedRule rule{.rounds = 200, .local_steps = 5, .epsilon = 1e9};
  rule.step = [](int64_t) { return .1; };
  test::SeededEntropy entropy(1, "noise");
  const auto found = federated(
      rule, 3, 1000, 2,
      [](size_t party, std::span<const double> at) {
        return std::vector<double>{at[0] - double(party),
                                   at[1] + 1};  // Minima at the party's number.
      },
      entropy);
  EXPECT_NEAR(found.value[0], 1, 1e-6);
  EXPECT_NEAR(found.value[1], -1, 1e-6);
}

/// What is left of equation (2) in the average of ten parties: a tenth of its variance, and with
/// that 2.72 instead of 1. The mean of 40,000 squares is off by more than 5 % with a probability
/// below 1e-11.
TEST(PaperFederated, AverageHasLessNoiseThanItsTheoremNeeds) {
  constexpr size_t kParties = 10, kNumbers = 40'000;
  test::SeededEntropy entropy(2, "noise");
  const auto found = federated(kOneStep, kParties, 100, kNumbers, flat, entropy);
  double squares = 0;
  for (double value : found.value) squares += value * value / double(kNumbers);
  const double needed = claimed_deviation(kOneStep, kParties, 100);
  EXPECT_NEAR(squares / (needed * needed), 1.0 / kParties, .05 / kParties);

  const double sensitivity = 2 * kOneStep.lipschitz / (kParties * 100);
  const double epsilon =
      privacy::gdp_epsilon(sensitivity / std::sqrt(squares), privacy::Delta(1e-5));
  EXPECT_NEAR(epsilon, 2.72, .15);
}

}  // namespace federated_test
}  // namespace parley::paper
