// Golden numbers of personal models, from the numpy reference (ten digits).
#include <gtest/gtest.h>

#include <array>

#include "parley/learn/personal/mixture.h"
#include "parley/learn/personal/own_loss.h"

namespace parley::learn {
namespace golden_test {

constexpr double kX[8][3] = {{1, .5, 1},   {-.5, 1, 1},  {.25, -1, 1},  {.75, .25, 1},
                             {-1, -.5, 1}, {.5, .75, 1}, {-.25, .5, 1}, {0, -.75, 1}};
constexpr double kValues[8] = {.5, -.25, .75, .25, -.5, .4, 0, .1};
constexpr double kClasses[8] = {1, -1, 1, 1, -1, 1, -1, -1};
const std::vector<double> kJoint = {.4, -.2, .1};
const std::vector<double> kHessian = {.5, .1, .05, .1, .6, 0, .05, 0, 1};

data::Rows golden_rows(const double* labels) {
  data::Rows rows(3);
  for (size_t i = 0; i < 8; ++i) rows.add(kX[i], labels[i]);
  return rows;
}

std::vector<double> model(const Losses& loss, const data::Rows& rows, const Pull& pull) {
  Design design(rows.columns(), 1);
  design.add(rows);
  return OwnLoss(loss, design, std::vector<bool>(rows.size(), true)).models(pull).front();
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t j = 0; j < found.size(); ++j) EXPECT_NEAR(found[j], expected[j], 1e-9) << j;
}

TEST(PersonalGolden, V2SquaredTowardsTheJointModelAndAlone) {
  const data::Rows rows = golden_rows(kValues);
  expect_near(model(Squared{}, rows, {kHessian, {kJoint}, {.3}}),
              {0.5192067863, -0.1755990468, 0.1201241074});
  expect_near(model(Squared{}, rows, {identity_metric(3, 2, 1e-4), {{0, 0, 0}}, {.3}}),
              {0.3825942489, -0.1116632088, 0.1308482523});
}

TEST(PersonalGolden, V3LogisticTowardsTheJointModel) {
  expect_near(model(Logistic{}, golden_rows(kClasses), {kHessian, {kJoint}, {.3}}),
              {1.390525318, -0.2542013665, -0.02088753731});
}

TEST(PersonalGolden, V4Weights) {
  const std::vector<double> losses = {.52, .50, .47, .49};
  const auto priors = equal_priors(std::array{0, 1, 2, 3});
  expect_near(mixture_weights(losses, priors, 100, mixture_temperature(Logistic{}, .47)),
              {0.1211230885, 0.1996982123, 0.4227611189, 0.2564175803});
  expect_near(mixture_weights(losses, priors, 100, mixture_temperature(Squared{}, .47)),
              {0.1148997588, 0.195581071, 0.4343485487, 0.2551706216});
}

}  // namespace golden_test
}  // namespace parley::learn
