#include "parley/plan/fine_tune.h"

#include <gtest/gtest.h>

#include <cmath>

#include "parley/gate/clip_and_sum.h"
#include "support/bounded.h"
#include "support/entropy.h"

namespace parley::gate {
namespace fine_tune_test {

using test::uniform;

plan::FineTune::Setting setting_of(const learn::Losses& loss) {
  return {
      .loss = loss, .rows = 40, .columns = 3, .max_grad_norm = 1, .l2 = .05, .pull = .2, .box = 3};
}

data::Rows rows_of(uint64_t seed, bool classes) {
  test::SeededEntropy entropy(seed, "rows");
  data::Rows rows(3);
  for (int i = 0; i < 40; ++i) {
    const std::array z = {uniform(entropy) - .5, 4 * uniform(entropy) - 2, 1.0};
    const double y = 4 * uniform(entropy) - 2;
    rows.add(z, classes ? (y > 0 ? 1 : -1) : y);
  }
  return rows;
}

data::Rows with_another(const data::Rows& rows, const std::array<double, 3>& z, double y) {
  data::Rows other(3);
  other.add(z, y);
  for (size_t i = 1; i < rows.size(); ++i) other.add(rows.row(i), rows.label(i));
  return other;
}

std::vector<int64_t> released(const plan::FineTune& tune, const data::Rows& rows) {
  const Records records(std::make_shared<const data::Rows>(rows));
  const auto bounded = ClipAndSum::tuned_model<L2>(records, tune, std::array{.1, -.1, .2});
  return privacy::BoundedForTest::values(bounded);
}

// Replaced records near and far, also ones longer than anything that counts: the integers never
// differ by more than the sensitivity that noise is drawn for.
TEST(FineTune, OneReplacedRecordMovesTheIntegersByAtMostTheSensitivity) {
  for (const learn::Losses& loss :
       {learn::Losses(learn::Squared{}), learn::Losses(learn::Hinge{}),
        learn::Losses(learn::Logistic{}), learn::Losses(learn::Huber{.5})}) {
    const bool classes = learn::two_classes(loss);
    const auto tune = plan::FineTune::make(setting_of(loss));
    ASSERT_TRUE(tune) << describe(tune.error());
    double most = 0, most_l1 = 0;
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      const data::Rows rows = rows_of(seed, classes);
      const auto before = released(*tune, rows);
      for (const std::array<double, 3>& z :
           {std::array{0.0, 0.0, 0.0}, {2.0, 2.0, 2.0}, {-1e3, 5.0, 0.0}, {1e130, 0.0, 0.0}})
        for (double y : {-1.0, 1.0}) {
          const auto after = released(*tune, with_another(rows, z, y));
          double squares = 0, sizes = 0;
          for (size_t j = 0; j < 3; ++j) {
            const auto apart = double(after[j] - before[j]);
            squares += apart * apart, sizes += std::fabs(apart);
          }
          most = std::fmax(most, std::sqrt(squares)), most_l1 = std::fmax(most_l1, sizes);
        }
    }
    EXPECT_LE(most, tune->sensitivity<L2>()) << learn::name_of(loss);
    EXPECT_LE(most_l1, tune->sensitivity<L1>()) << learn::name_of(loss);
    EXPECT_GT(most, tune->sensitivity<L2>() / 20) << "the test has lost its power";
  }
}

// Below the clip nothing may fail on what a record contains: records of all sizes, repeated, at the
// clip and far beyond, always let the solver reach the distance that the promise rests on.
TEST(FineTune, HostileRecordsAreTunedLikeAnyOthers) {
  test::SeededEntropy entropy(9, "hostile");
  for (const learn::Losses& loss :
       {learn::Losses(learn::Squared{}), learn::Losses(learn::Hinge{{1, 50}}),
        learn::Losses(learn::Logistic{{1, 50}}), learn::Losses(learn::Huber{1e-3})})
    for (int k = 0; k < 150; ++k) {
      plan::FineTune::Setting setting = setting_of(loss);
      setting.max_grad_norm = std::pow(10, 4 * uniform(entropy) - 2);
      setting.pull = std::pow(10, 4 * uniform(entropy) - 3);
      setting.l2 = k % 2 ? 0 : .1;
      setting.box = std::pow(10, 3 * uniform(entropy) - 1);
      const auto tune = plan::FineTune::make(setting);
      ASSERT_TRUE(tune) << describe(tune.error());
      data::Rows rows(3);
      const double scale = std::pow(10, 8 * uniform(entropy) - 4);
      for (int i = 0; i < 40; ++i) {
        const double size = i % 5 == 0 ? std::pow(10, 20 * uniform(entropy) - 10) : scale;
        const std::array z = {size * (uniform(entropy) - .5), size * (uniform(entropy) - .5),
                              k % 3 ? size : size * (uniform(entropy) - .5)};
        const double y = size * (uniform(entropy) - .5);
        rows.add(z, learn::two_classes(loss) ? (y > 0 ? 1 : -1) : y);
      }
      EXPECT_EQ(released(*tune, rows).size(), 3u);  // It would have ended the process.
    }
}

TEST(FineTune, TheSensitivityIsTwoClipsOverRowsAndConvexityAndALittleMore) {
  const auto tune = plan::FineTune::make(setting_of(learn::Squared{}));
  const double exact = 2 * 1 / (40 * .25) / tune->lattice().gamma();
  EXPECT_GE(tune->sensitivity<L2>(), exact);
  EXPECT_LE(tune->sensitivity<L2>(), exact * 1.063);
  EXPECT_LE(tune->sensitivity<L1>(), exact * 1.063 * std::sqrt(3));
  plan::FineTune::Setting unit = setting_of(learn::Squared{});
  unit.unit_records = 5;
  const auto people = plan::FineTune::make(unit);
  EXPECT_NEAR(people->sensitivity<L2>() * people->lattice().gamma() /
                  (tune->sensitivity<L2>() * tune->lattice().gamma()),
              5, 1e-5);
}

TEST(FineTune, RefusesMoreRowsThanItsProofIsFor) {
  plan::FineTune::Setting many = setting_of(learn::Squared{});
  many.rows = 1'000'001;
  EXPECT_EQ(plan::FineTune::make(many).error().where.key, "protocol.publish");
  plan::FineTune::Setting hinge = setting_of(learn::Hinge{});
  hinge.rows = 100'001;
  EXPECT_FALSE(plan::FineTune::make(hinge));
  many.rows = 1'000'000;
  EXPECT_TRUE(plan::FineTune::make(many));
}

}  // namespace fine_tune_test
}  // namespace parley::gate
