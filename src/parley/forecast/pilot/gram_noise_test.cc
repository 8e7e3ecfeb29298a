#include "parley/forecast/pilot/gram_noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "parley/base/math/seeded_random.h"
#include "parley/plan/budget.h"
#include "parley/privacy/accounting/gdp.h"

namespace parley::forecast {
namespace gram_noise_test {

/// 11 columns, 38 numbers after encoding.
GramJob golden_job(double rows) {
  const double norm = std::sqrt(12.), mu = privacy::gdp_mu(1, privacy::Delta(1e-6));
  return {.row_norm = norm,
          .columns = 38,
          .rows = rows,
          .clip = norm / 2,
          .rounds = 5,
          .surplus = 5 / 3.,
          .rho = mu * mu / 2};
}

TEST(GramNoise, MatchesTheGolden) {  // V10
  const GramNoise noise = gram_noise(golden_job(20000));
  EXPECT_NEAR(noise.entry, .008449357779, 1e-11);
  EXPECT_NEAR(noise.floor, .1041706788, 1e-9);
  EXPECT_NEAR(noise.gradient, .002524728537, 1e-11);
}

TEST(GramNoise, RefusesWhatWouldBeNoiseAndSaysWhatHelps) {
  EXPECT_TRUE(gram_notice(golden_job(20000), 1e-6));
  const GramJob few = golden_job(1000);  // floor 2.08
  const auto refused = gram_notice(few, 1e-6);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().hint.find("epsilon"), std::string::npos);
  const GramHelp help = *gram_help(few, 1e-6);
  GramJob more = few;
  more.rows = help.rows;
  EXPECT_NEAR(gram_noise(more).floor, kGramWarned, 1e-9);
  more = few, more.rho = *plan::rho_of(help.epsilon, 1e-6);
  EXPECT_NEAR(gram_noise(more).floor, kGramWarned, 1e-3);
  more = few, more.columns = static_cast<size_t>(help.columns);
  EXPECT_LE(gram_noise(more).floor, kGramWarned);
  const auto warned = gram_notice(golden_job(5000), 1e-6);  // floor 0.42
  ASSERT_TRUE(warned);
  EXPECT_NE(warned->find("would bring it to 0.3"), std::string::npos) << *warned;
  EXPECT_EQ(gram_notice(golden_job(20000), 1e-6)->find("would"), std::string::npos);
}

/// Section 10, test 8: |zz' - ww'|_F <= sqrt(2) R^2 for rows of norm R or less, and attained.
TEST(GramNoise, SensitivityHolds) {
  SeededRandom random(4, 0);
  const auto apart = [](const std::vector<double>& z, const std::vector<double>& w) {
    double sum = 0;
    for (size_t i = 0; i < z.size(); ++i)
      for (size_t j = 0; j < z.size(); ++j) sum += std::pow(z[i] * z[j] - w[i] * w[j], 2);
    return std::sqrt(sum);
  };
  const auto row = [&] {  // three numbers in [-1, 1], one of two levels, bias
    const bool level = random.uniform() < .5;
    const auto number = [&] { return random.uniform() < .3 ? 1. : 2 * random.uniform() - 1; };
    return std::vector<double>{number(), number(), number(), level ? 1. : 0., level ? 0. : 1., 1};
  };
  for (int i = 0; i < 2000; ++i)
    EXPECT_LE(apart(row(), row()), std::numbers::sqrt2 * 5 * (1 + 1e-12));
  EXPECT_NEAR(apart({2, 0}, {0, 2}), std::numbers::sqrt2 * 4, 1e-12);
}

}  // namespace gram_noise_test
}  // namespace parley::forecast
