#include "parley/learn/schedule/weights.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/entropy.h"
#include "support/tiny.h"

namespace parley::learn {
namespace weights_test {

using test::SeededEntropy, test::uniform;

/// A / (n epsilon)^2 and B / n of theory (D7).
std::vector<OwnerError> owners_of(const std::vector<std::pair<double, double>>& rows_epsilon,
                                  double a, double b) {
  std::vector<OwnerError> owners;
  for (auto [n, epsilon] : rows_epsilon)
    owners.push_back({n, a / (n * n * epsilon * epsilon), b / n});
  return owners;
}

TEST(OptimalWeights, EqualTheGoldenVectors) {
  const auto g12 = optimal_weights(owners_of({{1e5, 10}, {1e3, .1}, {1e3, .1}}, 3, .02));
  const double golden12[] = {9.9875154184610e-01, 6.2422907694952e-04, 6.2422907694952e-04};
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(g12[i], golden12[i], 1e-12);

  const auto owners = owners_of({{1e6, 10}, {1e4, 10}, {1e4, 10}}, 100, .1);
  const auto g18 = optimal_weights(owners, 1e-3);
  const double golden18[] = {0.9803922213492, 0.0098038893254, 0.0098038893254};
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(g18[i], golden18[i], 1e-12);
  EXPECT_NEAR(weights_error(owners, g18, 1e-3), 2.88350008474e-12, 1e-21);
  const std::vector<double> by_rows = {1e6 / 1.02e6, 1e4 / 1.02e6, 1e4 / 1.02e6};
  EXPECT_NEAR(weights_error(owners, by_rows, 1e-3), 2.88350634371e-12, 1e-21);
}

TEST(OptimalWeights, AreRowsWithoutNoiseAndInverseVariancesWithoutAnythingElse) {
  const auto rows = optimal_weights(owners_of({{300, 1}, {100, 2}}, 0, 1));
  EXPECT_DOUBLE_EQ(rows[0], .75);
  const auto inverse = optimal_weights(owners_of({{300, 1}, {100, 1}}, 1, 0));
  EXPECT_DOUBLE_EQ(inverse[0], .9);
}

// S15: 50 random profiles, half of them with owners that differ.
TEST(OptimalWeights, AreNeverWorseThanRowsOrOneOwnerAlone) {
  SeededEntropy entropy(1, "weights");
  const auto between = [&](double low, double high) {
    return std::exp(std::log(low) + uniform(entropy) * std::log(high / low));
  };
  for (int profile = 0; profile < 50; ++profile) {
    std::vector<std::pair<double, double>> numbers;
    for (size_t i = 0; i < 2 + size_t(profile) % 5; ++i)
      numbers.emplace_back(between(100, 1e6), between(.05, 20));
    const auto owners = owners_of(numbers, between(1, 1e6), between(1e-3, 1));
    const double tau2 = profile % 2 ? between(1e-6, 1e-1) : 0;
    const auto best = optimal_weights(owners, tau2);
    const double error = weights_error(owners, best, tau2) * (1 - 1e-9);
    std::vector<double> rows(owners.size());
    double sum = 0, all = 0;
    for (size_t i = 0; i < owners.size(); ++i) sum += best[i], all += owners[i].rows;
    EXPECT_NEAR(sum, 1, 1e-12);
    for (size_t i = 0; i < owners.size(); ++i) {
      rows[i] = owners[i].rows / all;
      std::vector<double> alone(owners.size());
      alone[i] = 1;
      EXPECT_LE(error, weights_error(owners, alone, tau2)) << profile;
    }
    EXPECT_LE(error, weights_error(owners, rows, tau2)) << profile;
  }
}

// G8's noise part: h = (2, .5), a_k = .5/sqrt(k), T = 5 with variance .04, last and average.
TEST(NoiseGain, EqualsTheGoldenForecast) {
  const double curvatures[] = {2, .5};
  const Schedule last = algorithm2(4, .5, Average::kNone, {0, 0});
  EXPECT_NEAR(.04 * noise_gain(last, curvatures), 0.006508375806212, 1e-14);
  const Schedule average = algorithm2(3, .5, Average::kPaper, {0, 0});
  EXPECT_NEAR(.04 * noise_gain(average, curvatures), 0.004182117456036, 1e-14);
}

// The definition itself: on a quadratic, answer by answer, also with momentum and preconditioner.
TEST(NoiseGain, IsTheSumOfSquaredWeightsOfTheAnswers) {
  for (double momentum : {0.0, 0.6})
    for (bool newton : {false, true}) {
      const double h = 1.7;
      Schedule schedule = constant_step(6, .4, Average::kTail, {0});
      schedule.momentum = momentum;
      if (newton) schedule.preconditioner = {1 / h};
      double variance = 0;
      for (int noisy = 0; noisy < 6; ++noisy) {
        Descent descent(schedule, 1e6, 0, 1);
        for (int k = 0; k < 6; ++k)
          descent.step(std::array{h * descent.theta(0)[0] + (k == noisy ? 1 : 0)});
        variance += descent.average(0)[0] * descent.average(0)[0];
      }
      EXPECT_NEAR(noise_gain(schedule, std::array{h}), h / 2 * variance, 1e-13);
    }
}

TEST(ErrorModel, OfTheTinyRecordsIsTheHandComputedOne) {
  data::Rows rows(1);
  rows.add(std::array{1.0}, 1.0);
  rows.add(std::array{1.0}, -1.0);
  const Schedule schedule = constant_step(1, .25, Average::kNone, {0});
  const auto model = error_model(schedule, Squared{}, rows, std::array{0.0}, ClipIn::kNone, 0, 0);
  EXPECT_DOUBLE_EQ(model->noise_gain, 2 / 2. * .25 * .25);
  EXPECT_DOUBLE_EQ(model->spread, 4 / 2. / 2) << "gradients -2 and 2, Hessian 2";
  const auto clipped = error_model(schedule, Squared{}, rows, std::array{0.0}, ClipIn::kL1, 2.0, 0);
  EXPECT_DOUBLE_EQ(clipped->spread, model->spread) << "at the limit, not beyond";
  EXPECT_FALSE(error_model(schedule, Squared{}, rows, std::array{0.0}, ClipIn::kL1, 1.0, 0))
      << "all records clipped: no curvature is left";
}

// A hinge has no curvature of its own: it comes from how many records lie at the kink.
TEST(ErrorModel, OfTheHingeCountsRecordsAtTheKink) {
  SeededEntropy entropy(2, "kink");
  data::Rows near(1), far(1);
  for (int i = 0; i < 4000; ++i) {
    const double spread = 2 * uniform(entropy) - 1;
    near.add(std::array{1.0 + spread}, 1.0);
    far.add(std::array{9.0 + spread}, 1.0);
  }
  const auto curvature = [](const data::Rows& rows) {
    return smoothed_hessian(Hinge{}, rows, std::array{1.0}, ClipIn::kNone, 0, 0)[0];
  };
  // Density 1/2 at margin 1, where z = 1; 5 % is far beyond what 4000 records and the kernel move
  // it.
  EXPECT_NEAR(curvature(near), .5, .05);
  EXPECT_LT(curvature(far), 1e-6);
}

}  // namespace weights_test
}  // namespace parley::learn
