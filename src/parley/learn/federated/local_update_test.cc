#include "parley/learn/federated/local_update.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "parley/learn/federated/shrink.h"
#include "parley/learn/kernel/kernel.h"

namespace parley::learn {
namespace local_update_test {

using Matrix = std::vector<std::vector<double>>;
constexpr double kGamma = 0x1p-40;

struct Data {
  Matrix x;
  std::vector<double> y;
  data::Rows rows() const {
    data::Rows rows(x[0].size());
    for (size_t i = 0; i < x.size(); ++i) rows.add(x[i], y[i]);
    return rows;
  }
};

LocalPlan plan_for(const Data& data, double l2, double step, int64_t steps, double weight = 1) {
  return {.l2 = l2,
          .step = step,
          .steps = steps,
          .box = 1e5,
          .weight = weight,
          .rows = data.x.size(),
          .dimension = data.x[0].size()};
}

/// With the kernel's gradients, on the lattice.
std::vector<double> update_of(const LocalPlan& plan, const Data& data,
                              const std::vector<double>& theta) {
  const LocalUpdate update = *LocalUpdate::make(plan);
  const data::Rows rows = data.rows();
  const auto found = update.run(theta, [&](std::span<const double> at) {
    const auto sum = lattice_sum<L2>(plan.loss, update.lattice(), at, rows, 0, rows.size());
    std::vector<double> mean;
    for (const int64_t each : sum)
      mean.push_back(double(each) * (update.lattice().gamma() / double(plan.rows)));
    return mean;
  });
  std::vector<double> numbers;
  for (const int64_t each : update.rounded(found, kGamma)) numbers.push_back(double(each) * kGamma);
  return numbers;
}

/// With gradients in plain doubles.
std::vector<double> plain_update_of(const LocalPlan& plan, const Data& data,
                                    const std::vector<double>& theta) {
  return LocalUpdate::make(plan)->run(theta, [&](std::span<const double> at) {
    std::vector<double> mean(at.size());
    for (size_t i = 0; i < data.x.size(); ++i) {
      double score = 0;
      for (size_t j = 0; j < at.size(); ++j) score += data.x[i][j] * at[j];
      for (size_t j = 0; j < at.size(); ++j)
        mean[j] += Logistic{}.slope(score, data.y[i]) * data.x[i][j] / double(data.x.size());
    }
    return mean;
  });
}

/// Two owners, two steps each, the mean of where they end.
TEST(LocalUpdate, Golden) {
  const Data one{{{1, 0}, {.6, .8}}, {1, -1}}, two{{{0, -1}, {-.8, .6}}, {1, 1}};
  const std::vector<double> theta{.1, -.2};
  const auto first = plain_update_of(plan_for(one, .1, .5, 2, .5), one, theta);
  const auto second = plain_update_of(plan_for(two, .1, .5, 2, .5), two, theta);
  EXPECT_NEAR(theta[0] + 2 * first[0], 0.181820441623065, 1e-14);
  EXPECT_NEAR(theta[1] + 2 * first[1], -0.363640883246131, 1e-14);
  EXPECT_NEAR(theta[0] + 2 * second[0], -0.120214577965886, 1e-14);
  EXPECT_NEAR(theta[1] + 2 * second[1], -0.240867083148295, 1e-14);
  EXPECT_NEAR(theta[0] + first[0] + second[0], 0.0308029318285898, 1e-14);
  EXPECT_NEAR(theta[1] + first[1] + second[1], -0.302253983197213, 1e-14);
  EXPECT_NEAR(LocalUpdate::make(plan_for(one, .1, .5, 2, .5))->sensitivity(), .4875, 1e-11);
}

TEST(LocalUpdate, OneStepIsAGradientStep) {
  const Data data{{{1, 0}, {.6, .8}, {0, -1}}, {1, -1, 1}};
  const std::vector<double> theta{.3, -.1};
  const auto update = update_of(plan_for(data, .05, .7, 1), data, theta);
  const auto plain = plain_update_of(plan_for(data, .05, .7, 1), data, theta);
  for (size_t j = 0; j < 2; ++j) {
    double slope = .05 * theta[j];
    for (size_t i = 0; i < 3; ++i)
      slope += Logistic{}.slope(data.x[i][0] * theta[0] + data.x[i][1] * theta[1], data.y[i]) *
               data.x[i][j] / 3;
    EXPECT_NEAR(plain[j], -.7 * slope, 1e-15);
    EXPECT_NEAR(update[j], -.7 * slope, .7 * 0x1p-32);  // The records' lattice.
  }
}

/// Records nearly orthogonal to theta, on the losing side, antipodal otherwise: what the bound
/// allows nearly happens, and nothing beyond it.
TEST(LocalUpdate, NeighboursStayWithinTheBoundAndNearlyReachIt) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  double worst = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const size_t n = 1 + random() % 5, d = 2 + random() % 3;
    const double lam = std::pow(10, -3 * double(random() % 1000) / 1000),
                 limit = 2 / (.25 + 2 * lam);
    const double steps[] = {.5, 1., limit * .999};
    Data data{Matrix(n, std::vector<double>(d)), std::vector<double>(n)};
    for (size_t i = 0; i < n; ++i) {
      double squares = 0;
      for (double& value : data.x[i]) value = normal(random), squares += value * value;
      for (double& value : data.x[i]) value /= std::max(1., std::sqrt(squares));
      data.y[i] = random() % 2 ? 1 : -1;
    }
    std::vector<double> theta(d), away(d);
    double length = 0, along = 0, rest = 0;
    for (double& value : theta) value = normal(random), length += value * value;
    for (double& value : theta) value /= std::sqrt(length);
    for (size_t j = 0; j < d; ++j) away[j] = normal(random), along += away[j] * theta[j];
    for (size_t j = 0; j < d; ++j) away[j] -= along * theta[j], rest += away[j] * away[j];
    const double losing[] = {.02, .1, .3};
    const double c = losing[random() % 3], side = std::sqrt((1 - c * c) / rest);
    Data other = data;
    for (size_t j = 0; j < d; ++j) {
      data.x[0][j] = side * away[j] - c * theta[j];
      other.x[0][j] = -side * away[j] - c * theta[j];
    }
    data.y[0] = other.y[0] = 1;
    const double far = std::pow(10, 4 * double(random() % 1000) / 1000);
    for (double& value : theta) value *= far;
    LocalPlan plan = plan_for(data, lam, std::min(limit * .999, steps[random() % 3]),
                              1 + int64_t(random() % 29));
    plan.max_row_norm = 1 + 1e-12;
    const auto a = update_of(plan, data, theta), b = update_of(plan, other, theta);
    double moved = 0;
    for (size_t j = 0; j < d; ++j) moved += (a[j] - b[j]) * (a[j] - b[j]);
    const LocalUpdate update = *LocalUpdate::make(plan);
    ASSERT_LE(std::sqrt(moved), update.sensitivity_on(kGamma) * kGamma) << trial;
    worst = std::max(worst, std::sqrt(moved) / update.sensitivity());
  }
  EXPECT_GT(worst, .99);
}

/// Of a loss that is not smooth one step is allowed, as long as one likes: records that pull with
/// all their cut gradients, one way or the other, reach the bound.
TEST(LocalUpdate, OneStepOfAnyLossMovesByNoMoreThanTwoCutGradients) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  double worst = 0;
  for (int trial = 0; trial < 10'000; ++trial) {
    const size_t n = 1 + random() % 6, d = 1 + random() % 4;
    Data data{Matrix(n, std::vector<double>(d)), std::vector<double>(n)};
    for (size_t i = 0; i < n; ++i) {
      for (double& value : data.x[i]) value = 2 * normal(random);
      data.y[i] = random() % 2 ? 1 : -1;
    }
    Data other = data;
    for (double& value : other.x[0]) value = random() % 4 ? -value : 3 * normal(random);
    std::vector<double> theta(d);
    for (double& value : theta) value = .1 * normal(random);
    LocalPlan plan = plan_for(data, .1, std::pow(10, double(random() % 5) - 2), 1, .5);
    plan.loss = Hinge{}, plan.max_row_norm = 100, plan.max_grad_norm = .5;
    const auto a = update_of(plan, data, theta), b = update_of(plan, other, theta);
    double moved = 0;
    for (size_t j = 0; j < d; ++j) moved += (a[j] - b[j]) * (a[j] - b[j]);
    const LocalUpdate update = *LocalUpdate::make(plan);
    EXPECT_DOUBLE_EQ(update.sensitivity(), 2 * .5 * .5 * plan.step / double(n) * (1 + 0x1p-40));
    ASSERT_LE(std::sqrt(moved), update.sensitivity_on(kGamma) * kGamma) << trial;
    worst = std::max(worst, std::sqrt(moved) / update.sensitivity());
  }
  EXPECT_GT(worst, .999);
}

/// With a longer step neighbours can move further apart than the bound: it must be refused.
TEST(LocalUpdate, RefusesWhatIsNotProved) {
  const Data data{{{1, 0}, {0, 1}}, {1, -1}};
  const LocalPlan good = plan_for(data, .01, 7, 5);
  EXPECT_TRUE(LocalUpdate::make(good));
  LocalPlan bad = good;
  bad.step = 2 / (.25 + .02) * 1.001;
  ASSERT_FALSE(LocalUpdate::make(bad));
  EXPECT_EQ(LocalUpdate::make(bad).error().where.key, "protocol.step");
  bad = good, bad.loss = Hinge{};
  EXPECT_EQ(LocalUpdate::make(bad).error().where.key, "model.loss");
  bad.steps = 1;
  EXPECT_TRUE(LocalUpdate::make(bad));
  bad.steps = 5, bad.max_update = .1;  // Whole owners are protected, by shortening.
  EXPECT_TRUE(LocalUpdate::make(bad));
  bad = good, bad.loss = Squared{}, bad.step = .5;
  EXPECT_EQ(LocalUpdate::make(bad).error().where.key, "privacy.max_grad_norm");
  bad.max_grad_norm = 2;
  EXPECT_TRUE(LocalUpdate::make(bad));
}

TEST(LocalUpdate, MoreStepsCostLessThanInProportionAndNeverMoreThanTheLimit) {
  const Data data{{{1, 0}, {0, 1}}, {1, -1}};
  double before = 0;
  for (const int64_t steps : {1, 2, 5, 20, 100, 10000}) {
    const LocalUpdate update = *LocalUpdate::make(plan_for(data, .1, 1, steps));
    EXPECT_GT(update.sensitivity(), before);
    EXPECT_LE(update.sensitivity(), 2 * 1 * 1. * double(steps) / 2 * (1 + 1e-9));
    EXPECT_LE(update.sensitivity(), 2 * 1 / (2 * .1) * (1 + 1e-9));  // Output perturbation's.
    before = update.sensitivity();
  }
}

TEST(Shrunk, NoRecordIsLongerThanTheBoundAndShortOnesStay) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  auto rows = std::make_shared<data::Rows>(7);
  auto sparse = std::make_shared<data::SparseRows>(7);
  for (int i = 0; i < 2000; ++i) {
    std::vector<double> z(7);
    const double size = std::pow(10, double(random() % 9) - 4);
    for (double& value : z) value = size * normal(random);
    rows->add(z, i);
    sparse->add(std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6}, z, i);
  }
  const data::AnyRows out = shrunk(std::shared_ptr<const data::Rows>(rows), 1.5);
  const data::AnyRows same = shrunk(std::shared_ptr<const data::SparseRows>(sparse), 1.5);
  for (size_t i = 0; i < 2000; ++i) {
    const auto row = std::get<0>(out)->row(i), before = rows->row(i);
    long double squares = 0, old = 0;
    for (size_t j = 0; j < 7; ++j)
      squares += (long double)row[j] * row[j], old += (long double)before[j] * before[j];
    EXPECT_LE(squares, 1.5L * 1.5L);
    if (old <= 1.4 * 1.4) {
      EXPECT_TRUE(std::equal(row.begin(), row.end(), before.begin()));
    }
    EXPECT_TRUE(std::equal(row.begin(), row.end(), std::get<1>(same)->row_values(i).begin()));
    EXPECT_EQ(std::get<0>(out)->label(i), double(i));
  }
}

TEST(LocalUpdate, FallingStepsAreThoseOfTheTheoremAndNoneIsLongerThanTheFirst) {
  const LocalPlan given{.l2 = .1, .step = 1, .steps = 3, .box = 10, .rows = 4, .dimension = 1};
  const LocalPlan plan = with_falling_steps(given);
  const double smooth = .25 + .1;  // of the logistic loss on records of length 1
  EXPECT_DOUBLE_EQ(plan.delay, 8 * smooth / .1 - 1);
  EXPECT_DOUBLE_EQ(plan.step, 2 / (.1 * plan.delay));
  const auto update = LocalUpdate::make(plan);
  ASSERT_TRUE(update) << describe(update.error());
  const auto no_gradient = [](std::span<const double>) { return std::vector<double>{0}; };
  double expected = 2;
  for (int t = 5; t < 8; ++t) expected *= 1 - .1 * (2 / (.1 * (plan.delay + t)));
  EXPECT_NEAR(2 + update->run(std::vector<double>{2}, no_gradient, 5)[0], expected, 1e-14);
  EXPECT_LT(update->run(std::vector<double>{2}, no_gradient, 0)[0],
            update->run(std::vector<double>{2}, no_gradient, 100)[0]);
}

TEST(LocalUpdate, AShortenedUpdateIsNoLongerThanItsBoundWhateverTheSteps) {
  const LocalPlan plan{.step = 1,
                       .steps = 7,
                       .box = 100,
                       .weight = .25,
                       .rows = 4,
                       .max_update = .5,
                       .dimension = 2};
  const auto update = LocalUpdate::make(plan);
  ASSERT_TRUE(update) << describe(update.error());
  EXPECT_NEAR(update->sensitivity(), .25, 1e-9);
  EXPECT_EQ(update->sensitivity_on(0x1p-20),
            (update->sensitivity() + 0x1p-20 * std::sqrt(2.)) * 0x1p20 * (1 + 0x1p-40));
  EXPECT_EQ(update->largest(), .125);
  const auto steep = [](std::span<const double>) { return std::vector<double>{-3, 4}; };
  const auto moved = update->run(std::vector<double>{1, 1}, steep);
  EXPECT_LE(std::hypot(moved[0], moved[1]), .125);
  EXPECT_NEAR(std::hypot(moved[0], moved[1]), .125, 1e-9);
  EXPECT_NEAR(moved[1] / moved[0], -4. / 3, 1e-12);
  const auto gentle = [](std::span<const double>) { return std::vector<double>{.01, 0}; };
  EXPECT_NEAR(update->run(std::vector<double>{1, 1}, gentle)[0], -.25 * .07, 1e-15);
}

}  // namespace local_update_test
}  // namespace parley::learn
