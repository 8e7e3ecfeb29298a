#include "parley/learn/pilot/wrong_pilot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "parley/base/math/seeded_random.h"

namespace parley::learn {
namespace wrong_pilot_test {

constexpr size_t kColumns = 6;

/// Four numbers, a level that `share` of the rows have, and a bias.
std::shared_ptr<data::Rows> rows_of(size_t count, double share, SeededRandom& random) {
  auto rows = std::make_shared<data::Rows>(kColumns);
  std::vector<double> z(kColumns);
  for (size_t i = 0; i < count; ++i) {
    double score = -.3;
    for (size_t j = 0; j < 4; ++j) score += (j % 2 ? -.5 : .7) * (z[j] = random.normal());
    z[4] = random.uniform() < share, z[5] = 1;
    score += 1.5 * z[4];
    rows->add(z, random.uniform() < 1 / (1 + std::exp(-score)) ? 1 : -1);
  }
  return rows;
}

PilotFit fitted(std::shared_ptr<const data::Rows> rows) {
  return fit_pilot(Logistic{}, 1e-3, 100, std::move(rows));
}

FirstAnswer paid(const PilotFit& pilot, const data::Rows& owners, const RecordClip& clip,
                 double deviation, SeededRandom& random) {
  FirstAnswer answer{mean_gradient(pilot.loss, owners, pilot.theta, clip.norm, clip.limit),
                     static_cast<double>(owners.size()), deviation};
  for (double& value : answer.gradient) value += deviation * random.normal();
  return answer;
}

TEST(WrongPilot, StatisticAndGapMatchTheGolden) {  // V9
  const std::vector<double> hessian = {.5, .1, .05, .1, .6, 0, .05, 0, 1};
  std::vector<double> covariance;
  for (double value : hessian) covariance.push_back(.02 * value);
  for (size_t j = 0; j < 3; ++j) covariance[4 * j] += 1e-4;
  const auto found = judge(std::vector<double>{.05, -.1, .2}, covariance, hessian);
  EXPECT_NEAR(found->statistic, 3.145843283, 1e-9);
  EXPECT_NEAR(found->gap, .001431975737, 1e-11);
}

/// Section 10, test 6: 1,000 like pilots. Nominal 1; more than 10 with probability 1e-8 if that
/// were exact, and 0.3 % if it were 4 as the numpy reference found.
TEST(WrongPilot, LikePilotsRaiseFewAlarms) {
  const RecordClip clip{.limit = 1.5};
  int alarms = 0;
  double dispersion = 0;
  for (uint64_t k = 0; k < 1000; ++k) {
    SeededRandom random(k, 3);
    const auto pilot = fitted(rows_of(200, .3, random));
    const auto owners = rows_of(1000, .3, random);
    const double phi = pilot_dispersion(pilot, clip);
    const auto checked = check_pilot(pilot, predicted_answer(pilot, clip),
                                     paid(pilot, *owners, clip, .01, random), phi);
    ASSERT_TRUE(checked);
    alarms += checked->alarm, dispersion += phi / 1000;
  }
  EXPECT_LE(alarms, 10);
  EXPECT_LT(dispersion, 2);
}

TEST(WrongPilot, AlarmsWhereALevelIsMissing) {
  const RecordClip clip{.limit = 1.5};
  for (uint64_t k = 0; k < 20; ++k) {
    SeededRandom random(k, 4);
    const auto pilot = fitted(rows_of(300, 0, random));
    const auto owners = rows_of(3000, .3, random);
    const double phi = pilot_dispersion(pilot, clip);
    const auto checked = check_pilot(pilot, predicted_answer(pilot, clip),
                                     paid(pilot, *owners, clip, .005, random), phi);
    ASSERT_TRUE(checked);
    EXPECT_TRUE(checked->alarm);
    EXPECT_GT(checked->gap, 0);
    EXPECT_EQ(thin_columns(*pilot.rows), std::vector<size_t>{4});
  }
}

TEST(WrongPilot, OwnersKnownToDifferRaiseTheThreshold) {
  SeededRandom random(1, 5);
  const RecordClip clip{.limit = 1.5};
  const auto pilot = fitted(rows_of(300, .3, random));
  const PredictedAnswer predicted = predicted_answer(pilot, clip);
  FirstAnswer answer = paid(pilot, *rows_of(3000, .8, random), clip, .005, random);
  const auto alike = check_pilot(pilot, predicted, answer, 1);
  answer.tau = .5, answer.squares = .1;
  const auto unlike = check_pilot(pilot, predicted, answer, 1);
  EXPECT_LT(unlike->statistic, alike->statistic);
  // More noise says less.
  answer.tau = 0, answer.deviation = 1;
  EXPECT_LT(check_pilot(pilot, predicted, answer, 1)->statistic, alike->statistic);
}

TEST(WrongPilot, NamesColumnsThatThePilotHardlyKnows) {
  data::Rows rows(6);
  for (int i = 0; i < 100; ++i)  // a number, absent, rare and common levels, one of all, bias
    rows.add(std::vector<double>{i / 100., 0, i < 9 ? 1. : 0., i < 10 ? 1. : 0., 1, 1}, 0);
  EXPECT_EQ(thin_columns(rows), (std::vector<size_t>{1, 2, 4})) << "the bias is the last";
  EXPECT_EQ(thin_columns(data::Rows(2)), (std::vector<size_t>{0, 1}));
}

TEST(WrongPilot, StandsOddPilots) {
  const RecordClip clip{.limit = 1};
  const auto checked = [&](const std::shared_ptr<data::Rows>& rows, double deviation) {
    const auto pilot = fitted(rows);
    const double phi = pilot_dispersion(pilot, clip);
    EXPECT_TRUE(std::isfinite(phi) && phi >= 1);
    return check_pilot(pilot, predicted_answer(pilot, clip),
                       {std::vector<double>(rows->columns(), .01), 100, deviation}, phi);
  };
  SeededRandom random(1, 6);
  const auto few = checked(rows_of(3, .3, random), .1);  // n0 < p
  ASSERT_TRUE(few);
  EXPECT_TRUE(std::isfinite(few->statistic + few->gap + few->threshold));
  auto zero = std::make_shared<data::Rows>(2);  // zero records, one class
  for (int i = 0; i < 10; ++i) zero->add(std::vector<double>{0, 0}, 1);
  const auto flat = checked(zero, .1);
  if (flat) {
    EXPECT_TRUE(std::isfinite(flat->statistic + flat->gap));
  }
  auto one = std::make_shared<data::Rows>(1);  // p = 1
  for (int i = 0; i < 50; ++i) one->add(std::vector<double>{1}, i % 2 ? 1 : -1);
  EXPECT_TRUE(checked(one, .1));
  const std::vector<double> nothing(4);
  EXPECT_FALSE(judge(std::vector<double>{1, 1}, nothing, nothing));
}

}  // namespace wrong_pilot_test
}  // namespace parley::learn
