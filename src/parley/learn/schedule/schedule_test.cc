#include "parley/learn/schedule/schedule.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "parley/learn/fitness.h"
#include "parley/learn/objective.h"
#include "support/tiny.h"

namespace parley::learn {
namespace schedule_test {

using Pair = std::array<double, 2>;
using test::tiny_classes, test::tiny_noise, test::tiny_owner;

/// The weighted mean gradient of the two tiny owners, with the golden noise or without.
std::vector<double> tiny_gradient(std::span<const double> theta, int k, double noise,
                                  const Losses& loss = Squared{}) {
  std::vector<double> sum(2);
  for (int owner : {1, 2}) {
    const data::Rows rows = two_classes(loss) ? tiny_classes(owner) : tiny_owner(owner);
    const auto mean = mean_gradient(loss, rows, theta, ClipIn::kNone, 0);
    for (size_t j = 0; j < 2; ++j)
      sum[j] += double(rows.size()) / 5 * (mean[j] + noise * tiny_noise(owner, k)[j]);
  }
  return sum;
}

/// theta[2..] and the averages after each round.
struct Path {
  std::vector<Pair> theta, average;
};
Path follow(const Schedule& schedule, double box, double noise, double l2 = 0,
            const Losses& loss = Squared{}) {
  Descent descent(schedule, box, l2, 1);
  Path path;
  for (int k = 1; !descent.finished(); ++k) {
    descent.step(tiny_gradient(descent.theta(0), k, noise, loss));
    path.theta.push_back({descent.theta(0)[0], descent.theta(0)[1]});
    path.average.push_back({descent.average(0)[0], descent.average(0)[1]});
  }
  return path;
}

void expect_path(const std::vector<Pair>& found, const std::vector<Pair>& golden) {
  ASSERT_EQ(found.size(), golden.size());
  for (size_t k = 0; k < golden.size(); ++k)
    for (size_t j = 0; j < 2; ++j) EXPECT_NEAR(found[k][j], golden[k][j], 1e-12) << k;
}

const std::vector<double> kStart = {.1, .1};
constexpr double kNoBox = 1e6;

// G2: T = 5 of the paper is four answers.
TEST(Algorithm1, EqualsTheGoldenVectors) {
  const Schedule schedule = algorithm1(4, 10, Average::kNone, kStart);
  expect_path(follow(schedule, kNoBox, 0).theta, {{0.575, -0.044},
                                                  {0.575505, -0.0967},
                                                  {0.5763743166667, -0.1248134},
                                                  {0.5770879357083, -0.1430958031667}});
  expect_path(follow(schedule, kNoBox, 1).theta, {{0.631, -0.008},
                                                  {0.588505, -0.06102},
                                                  {0.5907441388889, -0.0953974},
                                                  {0.5840352178194, -0.1227651013889}});
  const Path path = follow(schedule, kNoBox, 1);
  EXPECT_EQ(path.average, path.theta) << "the output is the last iterate";
}

// G3, squared: T = 5 averages theta[1..4], for which three answers are enough; the fourth of the
// paper, here with a schedule of four, only moves theta[5].
TEST(Algorithm2, EqualsTheGoldenVectors) {
  const Schedule three = algorithm2(3, .5, Average::kPaper, kStart);
  const Schedule four = algorithm2(4, .5, Average::kPaper, kStart);
  expect_path(follow(four, .6, 0).theta, {{0.6, -0.08},
                                          {0.5798474567362, -0.1613172798365},
                                          {0.5804296855357, -0.2036565302777},
                                          {0.5816248597982, -0.2297531398467}});
  expect_path(follow(three, .6, 0).average, {{0.3956859994079, -0.0064469597868},
                                             {0.4730008966224, -0.0714648144994},
                                             {0.5079604056554, -0.1144826826945}});
  expect_path(follow(four, .6, 1).theta, {{0.6, -0.035},
                                          {0.553507729137, -0.1180850467894},
                                          {0.5855126087832, -0.1750307568293},
                                          {0.5740335434095, -0.2234108828415}});
  expect_path(follow(three, .6, 1).average, {{0.3956859994079, 0.0201647801599},
                                             {0.4619429186854, -0.0378754380029},
                                             {0.5021550046716, -0.0825085634056}});
}

// G3, rows svm and log, with and without noise.
TEST(Algorithm2, EqualsTheGoldenVectorsOfTheOtherLosses) {
  const auto expect = [](const Losses& loss, double c, double box, double l2, double noise,
                         const std::vector<Pair>& theta, const std::vector<Pair>& average) {
    const Schedule three = algorithm2(3, c, Average::kPaper, kStart);
    const Schedule four = algorithm2(4, c, Average::kPaper, kStart);
    expect_path(follow(four, box, noise, l2, loss).theta, theta);
    expect_path(follow(three, box, noise, l2, loss).average, average);
  };
  expect(Hinge{}, .5, 1, 1, 0,
         {{0.525, -0.05},
          {0.5338388347648, -0.103033008589},
          {0.5385041613143, -0.1310249678858},
          {0.5413781209857, -0.1482687259144}},
         {{0.3513330994967, 0.0112942001776},
          {0.4279528893703, -0.0367027939972},
          {0.4639285177771, -0.0673971443983}});
  expect(Hinge{}, .5, 1, 1, 1,
         {{0.595, -0.005},
          {0.5543413600818, -0.059800775542},
          {0.5665596236569, -0.1031595568784},
          {0.5536697177427, -0.1423696676588}},
         {{0.3927291394138, 0.0379059401243},
          {0.4605773874176, -0.0031134175008},
          {0.4950661588412, -0.0356704624853}});
  expect(Logistic{}, 1, 5, .1, 0,
         {{0.5322812633799, -0.0237336915413},
          {0.7191673464139, -0.095051290384},
          {0.8349077169854, -0.1452025735506},
          {0.9169386317637, -0.1836641611907}},
         {{0.3556390347756, 0.0268273595124},
          {0.5082559528682, -0.0243398902807},
          {0.6145550689041, -0.0636710612849}});
  expect(Logistic{}, 1, 5, .1, 1,
         {{0.6722812633799, 0.0662663084587},
          {0.7746304930454, 0.0082794253258},
          {0.9065204809549, -0.0609681852472},
          {0.9599735576682, -0.1387992701628}},
         {{0.4384311146098, 0.0800508394058},
          {0.5795747652109, 0.0499196730747},
          {0.6859695390742, 0.0138345126269}});
}

// G15, first half: owner 2 alone answers, with the golden noise.
TEST(Algorithm2, EqualsTheGoldenVectorOfOneOwner) {
  Descent descent(algorithm2(3, .2, Average::kPaper, kStart), .6, 0, 1);
  for (int k = 1; !descent.finished(); ++k) {
    auto mean = mean_gradient(Squared{}, tiny_owner(2), descent.theta(0), ClipIn::kNone, 0);
    for (size_t j = 0; j < 2; ++j) mean[j] += tiny_noise(2, k)[j];
    descent.step(mean);
  }
  EXPECT_NEAR(descent.average(0)[0], 0.4756401990516, 1e-12);
  EXPECT_NEAR(descent.average(0)[1], 0.1914634026431, 1e-12);
}

// G5: the weights of theta[1..4] in the output of T = 5, by running the table on unit vectors.
TEST(Algorithm2, AveragesWithTheGoldenWeights) {
  const double golden[] = {0.1599275157232, 0.2314492750492, 0.2832029062845, 0.325420302943};
  const Schedule schedule = algorithm2(3, 1, Average::kPaper, {0});
  double rest = 1;
  std::array<double, 4> weights{};
  for (size_t k = 3; k >= 1; --k) {
    weights[k] = rest * schedule.rounds[k - 1].average;
    rest *= 1 - schedule.rounds[k - 1].average;
  }
  weights[0] = rest;
  for (size_t k = 0; k < 4; ++k) EXPECT_NEAR(weights[k], golden[k], 1e-12);
}

TEST(ConstantStep, KeepsItsStepAndAveragesTheLastHalf) {
  const auto rounds = constant_step(5, .4, Average::kTail, kStart).rounds;
  const double tail[] = {1, 1, 1, 1 / 2.0, 1 / 3.0};
  for (size_t k = 0; k < 5; ++k) {
    EXPECT_EQ(rounds[k].step, .4);
    EXPECT_EQ(rounds[k].average, tail[k]);
  }
}

// a_k = 1/(l2 k) makes theta[k+1] the mean of the minus gradients so far, divided by l2.
TEST(StronglyConvex, IsTheMeanOfAllGradientsOverL2) {
  Descent descent(strongly_convex(4, 1, .5, Average::kNone, {3}), kNoBox, .5, 1);
  double sum = 0;
  for (double gradient : {1.0, -2.0, 4.0, 7.0}) {
    sum += gradient;
    descent.step(std::array{gradient});
    EXPECT_NEAR(descent.theta(0)[0], -sum / double(descent.rounds_done()) / .5, 1e-14);
  }
}

// A query whose answer the output does not feel would be paid for nothing.
TEST(EveryRule, UsesEveryAnswer) {
  const std::vector<double> start = {1};
  for (uint32_t answers : {1u, 2u, 3u, 10u})
    for (Average average : {Average::kNone, Average::kPaper, Average::kTail})
      for (const Schedule& schedule :
           {algorithm1(answers, 5, average, start), algorithm2(answers, .3, average, start),
            constant_step(answers, .3, average, start),
            strongly_convex(answers, .3, 1, average, start),
            pilot_newton(answers, .7, average, start, {1})})
        for (uint32_t changed = 1; changed <= answers; ++changed) {
          Descent one(schedule, kNoBox, 0, 1), other(schedule, kNoBox, 0, 1);
          for (uint32_t k = 1; k <= answers; ++k) {
            one.step(std::array{one.theta(0)[0]});
            other.step(std::array{other.theta(0)[0] + (k == changed)});
          }
          EXPECT_NE(one.average(0)[0], other.average(0)[0]) << answers << " " << changed;
        }
}

TEST(PilotNewton, StepsAndAveragesAsWritten) {
  const std::vector<double> identity = {1, 0, 0, 1};
  const auto steps = [&](uint32_t answers) {
    std::vector<double> found;
    for (auto round : pilot_newton(answers, 1, Average::kTail, kStart, identity).rounds)
      found.push_back(round.step);
    return found;
  };
  EXPECT_EQ(steps(1), (std::vector<double>{1}));
  EXPECT_EQ(steps(2), (std::vector<double>{1, .5}));
  EXPECT_EQ(steps(3), (std::vector<double>{1, 1 / std::sqrt(2.0), 1 / std::sqrt(3.0)}));
  const auto five = pilot_newton(5, 1, Average::kTail, kStart, identity).rounds;
  const double tail[] = {1, 1, 1, 1 / 2.0, 1 / 3.0};  // The last three iterates, equally.
  for (size_t k = 0; k < 5; ++k) EXPECT_EQ(five[k].average, tail[k]);
}

// One whole Newton step on a quadratic, with its own Hessian, lands on the optimum.
TEST(PilotNewton, ReachesTheOptimumOfAQuadraticInOneStep) {
  const data::Rows rows = tiny_owner(1);
  Fitness fitness(Squared{}, 2, 0);
  fitness.add(rows);
  const auto hessian = clipped_hessian(Squared{}, rows, kStart, ClipIn::kNone, 0, 0);
  Descent descent(pilot_newton(1, 1, Average::kTail, kStart, *inverse(hessian, 2)), kNoBox, 0, 1);
  descent.step(fitness.gradient(kStart));
  const Optimum best = fitness.minimum(kNoBox);
  for (size_t j = 0; j < 2; ++j) EXPECT_NEAR(descent.average(0)[j], best.theta[j], 1e-12);
}

// Check (iv): whose rows are whose does not matter as long as nobody adds noise.
TEST(Descent, TheSplitOfRowsAmongOwnersDoesNotMatterWithoutNoise) {
  data::Rows first(2), rest(2);
  for (int owner : {1, 2})
    for (size_t i = 0; i < tiny_owner(owner).size(); ++i) {
      const data::Rows rows = tiny_owner(owner);
      (i == 0 ? first : rest).add(rows.row(i), rows.label(i));
    }
  const Path usual = follow(algorithm2(4, .5, Average::kPaper, kStart), .6, 0);
  Descent descent(algorithm2(4, .5, Average::kPaper, kStart), .6, 0, 1);
  for (const Pair& golden : usual.theta) {
    std::vector<double> sum(2);
    for (const data::Rows* rows : {&first, &rest}) {
      const auto mean = mean_gradient(Squared{}, *rows, descent.theta(0), ClipIn::kNone, 0);
      for (size_t j = 0; j < 2; ++j) sum[j] += double(rows->size()) / 5 * mean[j];
    }
    descent.step(sum);
    for (size_t j = 0; j < 2; ++j) EXPECT_NEAR(descent.theta(0)[j], golden[j], 1e-12);
  }
}

TEST(Descent, MomentumIsHeavyBall) {
  Schedule schedule = algorithm2(2, 1, Average::kNone, {0});
  schedule.rounds = {{1, 1}, {1, 1}};
  schedule.momentum = 0.5;
  Descent descent(schedule, kNoBox, 0, 1);
  descent.step(std::array{-1.0});
  descent.step(std::array{-1.0});
  EXPECT_DOUBLE_EQ(descent.theta(0)[0], 2.5);
}

TEST(Descent, ColumnsAreTheRunsOneByOne) {
  const Schedule schedule = algorithm2(3, .5, Average::kPaper, kStart);
  Descent both(schedule, .6, .1, 2);
  Descent alone[] = {Descent(schedule, .6, .1, 1), Descent(schedule, .6, .1, 1)};
  for (int k = 1; !both.finished(); ++k) {
    std::vector<double> gradients;
    for (size_t run : {0, 1}) {
      const auto gradient = tiny_gradient(both.theta(run), k, double(run));
      gradients.insert(gradients.end(), gradient.begin(), gradient.end());
      alone[run].step(gradient);
    }
    both.step(gradients);
    for (size_t run : {0, 1})
      for (size_t j = 0; j < 2; ++j) {
        EXPECT_EQ(both.theta(run)[j], alone[run].theta(0)[j]);
        EXPECT_EQ(both.average(run)[j], alone[run].average(0)[j]);
      }
  }
}

TEST(Descent, CutsEveryCoordinateOfAStep) {
  Schedule schedule = constant_step(1, 1, Average::kNone, {0, 0, 0});
  schedule.longest = 2;
  Descent descent(schedule, 100, 0);
  descent.step(std::vector<double>{.5, -3, 7});
  EXPECT_EQ(std::vector<double>(descent.theta().begin(), descent.theta().end()),
            (std::vector<double>{-.5, 2, -2}));
}

}  // namespace schedule_test
}  // namespace parley::learn
