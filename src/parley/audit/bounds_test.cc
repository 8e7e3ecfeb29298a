#include "parley/audit/bounds.h"

#include <gtest/gtest.h>

#include <cmath>

#include "parley/audit/binomial.h"

namespace parley::audit {
namespace bounds_test {

constexpr double kDelta = 1e-5, kAlpha = 0.05;

// Golden values of the numpy reference, to the digits it prints.
TEST(AuditBounds, AreTheGoldenValues) {
  const Counts counts{950, 100, 1000};
  EXPECT_NEAR(epsilon_clopper_pearson(counts, kDelta, kAlpha), 2.599206483, 5e-10);
  EXPECT_NEAR(epsilon_gaussian(counts, kDelta, kAlpha), 14.457200945, 5e-10);
  EXPECT_NEAR(epsilon_one_run({1000, 100, 80}, kDelta, kAlpha), .955319, 5e-7);
  EXPECT_NEAR(epsilon_one_run({1000, 200, 150}, kDelta, kAlpha), .819973, 5e-7);
  EXPECT_NEAR(epsilon_one_run({100, 100, 100}, 0, kAlpha), 3.492965, 5e-7);
}

TEST(AuditBounds, ARunsWorthIsTheGoldenLine) {
  const auto perfect = [](uint64_t n) { return epsilon_if_perfect(n, kDelta, kAlpha); };
  EXPECT_NEAR(perfect(20), 1.60, 5e-3);
  EXPECT_NEAR(perfect(100), 3.28, 5e-3);
  EXPECT_NEAR(perfect(500), 4.91, 5e-3);
  EXPECT_NEAR(perfect(1000), 5.60, 5e-3);
  EXPECT_NEAR(perfect(5000), 7.21, 5e-3);
  EXPECT_NEAR(perfect(100'000), 10.21, 5e-3);
}

TEST(AuditBounds, ProveNothingFromACoinToss) {
  EXPECT_EQ(epsilon_clopper_pearson({500, 500, 1000}, 0, kAlpha), 0);
  EXPECT_EQ(epsilon_gaussian({500, 500, 1000}, kDelta, kAlpha), 0);
  EXPECT_EQ(epsilon_one_run({1000, 100, 50}, kDelta, kAlpha), 0);
  EXPECT_EQ(epsilon_if_perfect(1, 0, kAlpha), 0);
}

TEST(AuditBounds, CountBothDirections) {  // Always "second" but for a few of the first.
  const Counts rare_in_first{1000, 900, 1000}, rare_in_second{100, 0, 1000};
  EXPECT_NEAR(epsilon_clopper_pearson(rare_in_first, 0, kAlpha),
              epsilon_clopper_pearson(rare_in_second, 0, kAlpha), 1e-12);
  EXPECT_GT(epsilon_clopper_pearson(rare_in_second, 0, kAlpha), 2);
}

TEST(AuditBounds, MoreConfidenceAndMoreDeltaCertifyLess) {
  const Counts counts{950, 100, 1000};
  EXPECT_LT(epsilon_clopper_pearson(counts, kDelta, 1e-6),
            epsilon_clopper_pearson(counts, kDelta, kAlpha));
  EXPECT_LT(epsilon_clopper_pearson(counts, .1, kAlpha),
            epsilon_clopper_pearson(counts, kDelta, kAlpha));
  EXPECT_LT(epsilon_one_run({1000, 100, 80}, 1e-4, kAlpha),
            epsilon_one_run({1000, 100, 80}, kDelta, kAlpha));
}

TEST(BinomialLimits, AreWhereTheTailIsAlpha) {
  for (const uint64_t successes : {1u, 7u, 400u, 999u}) {
    const double lower = binomial_lower(successes, 1000, 1e-6);
    EXPECT_NEAR(binomial_at_least(successes, 1000, lower), 1e-6, 1e-12);
    const double upper = binomial_upper(successes, 1000, 1e-6);
    EXPECT_NEAR(1 - binomial_at_least(successes + 1, 1000, upper), 1e-6, 1e-12);
  }
  EXPECT_EQ(binomial_lower(0, 1000, 1e-6), 0);
  EXPECT_EQ(binomial_upper(1000, 1000, 1e-6), 1);
  EXPECT_NEAR(binomial_upper(0, 1000, 1e-6), 1 - std::pow(1e-6, 1e-3), 1e-12);
}

TEST(BinomialLimits, TailsOfSmallCasesAreExact) {
  EXPECT_NEAR(binomial_at_least(2, 3, .5), .5, 1e-15);
  EXPECT_NEAR(binomial_at_least(1, 3, .9), 1 - 1e-3, 1e-15);
  EXPECT_NEAR(binomial_at_least(3, 3, .1), 1e-3, 1e-17);
  EXPECT_EQ(binomial_at_least(0, 3, .1), 1);
  EXPECT_EQ(binomial_at_least(4, 3, .1), 0);
  EXPECT_EQ(binomial_at_least(3, 3, 1), 1);
}

}  // namespace bounds_test
}  // namespace parley::audit
