#include "parley/learn/solver/prox.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/entropy.h"
#include "support/tiny.h"

namespace parley::learn {
namespace prox_test {

using test::uniform, test::tiny_classes, test::tiny_owner;

/// G15, second half: owner 1 tunes on its own rows, near what owner 2's answers came to.
TEST(Prox, EqualsTheGoldenFineTuning) {
  const auto rows = std::make_shared<data::Rows>(tiny_owner(1));
  const Prox prox{.center = {0.4756401990516, 0.1914634026431}, .pull = 1, .box = .6};
  const ProxMinimum found = prox_minimum(Squared{}, rows, prox, 1e-13);
  EXPECT_NEAR(found.theta[0], 0.5511558767839, 1e-12);
  EXPECT_NEAR(found.theta[1], -0.1533375804905, 1e-12);
  EXPECT_LE(found.distance, 1e-13);
}

std::shared_ptr<const data::Rows> some_rows(size_t count, bool classes, uint64_t seed) {
  test::SeededEntropy entropy(seed, "rows");
  auto rows = std::make_shared<data::Rows>(3);
  for (size_t i = 0; i < count; ++i) {
    const std::array z = {uniform(entropy) - .5, 4 * uniform(entropy) - 2, 1.0};
    const double score = z[0] - .5 * z[1] + .2 + uniform(entropy) - .5;
    rows->add(z, classes ? (score > 0 ? 1 : -1) : score);
  }
  return rows;
}

double value_at(const Losses& loss, const data::Rows& rows, const Prox& prox,
                const std::vector<double>& theta) {
  double sum = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    double score = 0;
    for (size_t j = 0; j < theta.size(); ++j) score += rows.row(i)[j] * theta[j];
    sum += std::visit([&](const auto& known) { return known.value(score, rows.label(i)); }, loss);
  }
  double value = sum / double(rows.size());
  for (size_t j = 0; j < theta.size(); ++j)
    value +=
        prox.l2 / 2 * theta[j] * theta[j] + prox.pull / 2 * std::pow(theta[j] - prox.center[j], 2);
  return value;
}

// Strong convexity makes every other point worse, by at least s/2 times its squared distance.
TEST(Prox, NoPointOfTheBoxIsBetterWhateverTheLoss) {
  test::SeededEntropy entropy(1, "points");
  for (const Losses& loss :
       {Losses(Squared{}), Losses(Hinge{{1, 2}}), Losses(Logistic{}), Losses(Huber{.3})})
    for (double box : {.3, 5.0}) {
      const auto rows = some_rows(200, two_classes(loss), 1);
      const Prox prox{.center = {.2, -.1, .4}, .pull = .5, .l2 = .1, .box = box};
      const ProxMinimum found = prox_minimum(loss, rows, prox, 1e-6);
      ASSERT_LE(found.distance, 1e-6) << name_of(loss);
      const double best = value_at(loss, *rows, prox, found.theta);
      for (int k = 0; k < 200; ++k) {
        std::vector<double> other = found.theta;
        double apart = 0;
        for (double& value : other) {
          const double from = value;
          value = std::clamp(value + (uniform(entropy) - .5) * (k % 2 ? .01 : 1), -box, box);
          apart += (value - from) * (value - from);
        }
        EXPECT_GE(value_at(loss, *rows, prox, other), best + .3 * apart - 3e-6 * std::sqrt(apart))
            << name_of(loss);
      }
    }
}

// The sensitivity on which a release of the model rests: one replaced record moves it by at most
// 2 C / (n (l2 + pull)), also if it is far outside.
TEST(Prox, OneRecordMovesTheModelByAtMostItsBound) {
  const double limit = 1, distance = 1e-7;
  for (const Losses& loss :
       {Losses(Squared{}), Losses(Hinge{}), Losses(Logistic{}), Losses(Huber{.3})}) {
    const auto rows = some_rows(50, two_classes(loss), 2);
    const Prox prox{.center = {0, 0, 0}, .pull = .2, .box = 5, .norm = ClipIn::kL2, .limit = limit};
    const auto before = prox_minimum(loss, rows, prox, distance);
    double most = 0;
    for (const std::array<double, 3>& z :
         {std::array{0.0, 0.0, 0.0}, {1e6, 0.0, 0.0}, {3.0, -8.0, 2.0}, {.1, .1, -.1}})
      for (double y : {-1.0, 1.0}) {
        data::Rows other(3);
        other.add(z, y);
        for (size_t i = 1; i < rows->size(); ++i) other.add(rows->row(i), rows->label(i));
        const auto after = prox_minimum(loss, std::make_shared<data::Rows>(other), prox, distance);
        double squares = 0;
        for (size_t j = 0; j < 3; ++j) squares += std::pow(after.theta[j] - before.theta[j], 2);
        most = std::fmax(most, std::sqrt(squares));
      }
    const double bound = 2 * limit / (50 * prox.convexity()) + 2 * distance;
    EXPECT_LE(most, bound) << name_of(loss);
    EXPECT_GT(most, bound / 50) << name_of(loss) << ": the test has lost its power";
  }
}

TEST(Prox, RecordsThatAreTooLongCountAsZeroAndSparseOnesAsTheSameDense) {
  auto rows = std::make_shared<data::Rows>(3), without = std::make_shared<data::Rows>(3);
  auto sparse = std::make_shared<data::SparseRows>(3);
  const std::array far = {100.0, 0.0, 0.0}, near = {1.0, 0.0, 2.0};
  rows->add(far, 1), rows->add(near, 1);
  without->add_zero(), without->add(near, 1);
  const std::array<uint32_t, 2> at = {0, 2};
  const std::array values = {1.0, 2.0};
  sparse->add({}, {}, 0), sparse->add(at, values, 1);
  const Prox prox{.center = {0, 0, 0}, .pull = 1, .box = 5, .longest = 50};
  const auto expected = prox_minimum(Squared{}, without, prox, 1e-9).theta;
  EXPECT_EQ(prox_minimum(Squared{}, rows, prox, 1e-9).theta, expected);
  EXPECT_EQ(prox_minimum(Squared{}, sparse, prox, 1e-9).theta, expected);
}

}  // namespace prox_test
}  // namespace parley::learn
