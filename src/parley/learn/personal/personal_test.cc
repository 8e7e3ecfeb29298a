#include "parley/learn/personal/personal.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <numeric>

#include "parley/base/math/seeded_random.h"
#include "parley/learn/objective.h"
#include "parley/learn/personal/family.h"

namespace parley::learn {
namespace personal_test {

std::shared_ptr<data::Rows> some_rows(size_t count, bool classes, uint64_t seed = 1) {
  SeededRandom random(seed, 0);
  auto rows = std::make_shared<data::Rows>(4);
  for (size_t i = 0; i < count; ++i) {
    const std::array z = {2 * random.uniform() - 1, 2 * random.uniform() - 1,
                          random.uniform() < .3 ? 1.0 : 0.0, 1.0};
    const double score = z[0] - .5 * z[1] + .4 * z[2] + .2 + .7 * random.normal();
    rows->add(z, classes ? (score > 0 ? 1 : -1) : score);
  }
  return rows;
}

PersonalInput some_input(const Losses& loss, size_t count) {
  return {.loss = loss,
          .rows = some_rows(count, two_classes(loss)),
          .bias = 3,
          .pilot = {.8, -.6, .2, .1},
          .hessian = {.6, .1, 0, 0, .1, .7, 0, .05, 0, 0, .5, .2, 0, .05, .2, 1.1},
          .joint = {.9, -.4, .5, .3},
          .joint_optimism = .001};
}

const std::vector<Losses>& losses() {
  static const std::vector<Losses> kAll = {Squared{}, Logistic{}, Huber{.5}, Logistic{{1, 3}}};
  return kAll;
}

bool finite(const std::vector<double>& values) {
  return !values.empty() &&
         std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

/// All four models are there and finite, and the weights sum to one.
void expect_sound(const Result<PersonalModels>& models) {
  ASSERT_TRUE(models) << models.error().what;
  double sum = 0;
  for (const PersonalCandidate& candidate : models->candidates) {
    EXPECT_GE(candidate.weight, 0);
    EXPECT_FALSE(std::isnan(candidate.cv_loss));
    sum += candidate.weight;
  }
  EXPECT_NEAR(sum, 1, 1e-12);
  for (const auto* theta :
       {&models->alone, &models->alone_mixed, &models->own_public, &models->personal})
    EXPECT_TRUE(finite(*theta));
}

void expect_refused(const Result<PersonalModels>& models, std::string_view why) {
  ASSERT_FALSE(models);
  EXPECT_EQ(models.error().code, Code::kInvalid);
  EXPECT_NE(models.error().what.find(why), std::string::npos) << models.error().what;
}

TEST(Personal, HasTheCandidatesOfTheSpecification) {
  const auto models = personal_models(some_input(Logistic{}, 80));
  expect_sound(models);
  EXPECT_EQ(models->plan.repeats, 3U);
  size_t alone = 0, pilot = 0, joint = 0;
  for (const PersonalCandidate& candidate : models->candidates)
    ++(candidate.centre == Centre::kZero    ? alone
       : candidate.centre == Centre::kPilot ? pilot
                                            : joint);
  EXPECT_EQ(alone, 10U);
  EXPECT_EQ(pilot, 20U);
  EXPECT_EQ(joint, 20U);
  EXPECT_EQ(models->candidates.back().shape, PullShape::kCentreItself);
  EXPECT_EQ(models->candidates.back().theta, some_input(Logistic{}, 80).joint);
}

// Every pulled candidate is a minimum: the gradient of own mean loss and pull is zero.
TEST(Personal, EveryCandidateIsStationary) {
  for (const Losses& loss : losses()) {
    const PersonalInput input = some_input(loss, 90);
    const auto& rows = *std::get<std::shared_ptr<const data::Rows>>(input.rows);
    const auto models = personal_models(input);
    const auto family = family_of(input);
    ASSERT_TRUE(models && family);
    size_t k = 0;
    for (const Pull& pull : family->pulls)
      for (const std::vector<double>& centre : pull.centres)
        for (double nu : pull.strengths) {
          const std::vector<double>& theta = models->candidates[k++].theta;
          auto gradient = mean_gradient(loss, rows, theta, ClipIn::kNone, 0);
          for (size_t i = 0; i < 4; ++i)
            for (size_t j = 0; j < 4; ++j)
              gradient[i] += nu * pull.metric[i * 4 + j] * (theta[j] - centre[j]);
          for (double value : gradient) EXPECT_NEAR(value, 0, 1e-7) << name_of(loss) << " " << nu;
        }
    for (const PersonalCandidate& candidate : models->candidates) {
      if (candidate.shape != PullShape::kOwnBias) continue;
      const auto gradient = mean_gradient(loss, rows, candidate.theta, ClipIn::kNone, 0);
      const double centre = candidate.centre == Centre::kJoint ? input.joint[3] : input.pilot[3];
      const double ridge = std::holds_alternative<Squared>(loss) ? 0 : 1e-4;
      EXPECT_NEAR(gradient[3] + ridge * (candidate.theta[3] - centre), 0, 1e-7) << name_of(loss);
    }
  }
}

TEST(Personal, IsTheSameOnAnyNumberOfThreads) {
  for (const Losses& loss : {Losses(Squared{}), Losses(Logistic{})}) {
    const PersonalInput input = some_input(loss, 350);
    const auto one = personal_models(input, {.seed = 7, .threads = 1});
    for (int threads : {2, 5, 16}) {
      const auto several = personal_models(input, {.seed = 7, .threads = threads});
      EXPECT_EQ(several->personal, one->personal);
      for (size_t k = 0; k < one->candidates.size(); ++k)
        EXPECT_EQ(several->candidates[k].cv_loss, one->candidates[k].cv_loss);
    }
    EXPECT_NE(personal_models(input, {.seed = 8})->personal, one->personal);
  }
}

TEST(Personal, ReportsProgressAndStops) {
  std::atomic<size_t> last = 0, total = 0;
  const PersonalInput input = some_input(Squared{}, 40);
  const auto count = [&](size_t done, size_t of) { return last = done, total = of, true; };
  EXPECT_TRUE(personal_models(input, {.threads = 3, .go_on = count}));
  EXPECT_EQ(last, 16U);  // Three times five folds, and all rows.
  EXPECT_EQ(total, 16U);
  const auto stopped =
      personal_models(input, {.go_on = [](size_t done, size_t) { return done < 3; }});
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::kFailed);
}

TEST(Personal, DoesWithoutPilotOrJointModel) {
  PersonalInput input = some_input(Logistic{}, 60);
  input.joint.clear();
  const auto before = personal_models(input);
  expect_sound(before);
  EXPECT_EQ(before->personal, before->own_public);
  input.pilot.clear(), input.hessian.clear();
  const auto own = personal_models(input);
  expect_sound(own);
  EXPECT_EQ(own->candidates.size(), 10U);
  EXPECT_EQ(own->personal, own->alone_mixed);
  input.joint = {.9, -.4, .5, .3}, input.bias.reset();
  const auto joint = personal_models(input);
  expect_sound(joint);
  EXPECT_EQ(joint->candidates.size(), 10U + 10U + 1U);
}

// The last column decides the label, and the charter does not have it.
TEST(Personal, OwnColumnsCountAloneAndInThePersonalModel) {
  SeededRandom random(3, 0);
  auto rows = std::make_shared<data::Rows>(3);
  for (int i = 0; i < 400; ++i) {
    const std::array z = {2 * random.uniform() - 1, 1.0, 2 * random.uniform() - 1};
    rows->add(z, z[0] + 2 * z[2] + .3 * random.normal());
  }
  const auto models = personal_models({.loss = Squared{},
                                       .rows = rows,
                                       .bias = 1,
                                       .pilot = {.9, .1},
                                       .hessian = {2.0 / 3, 0, 0, 2},
                                       .joint = {1, 0}});
  expect_sound(models);
  for (const auto* theta : {&models->alone, &models->own_public, &models->personal})
    EXPECT_NEAR((*theta)[2], 2, .1);
  EXPECT_EQ(models->candidates.back().theta, (std::vector<double>{1, 0, 0}));
}

TEST(Personal, SparseRowsGiveTheSame) {
  PersonalInput input = some_input(Logistic{}, 70);
  const auto dense = personal_models(input);
  const auto& rows = *std::get<std::shared_ptr<const data::Rows>>(input.rows);
  auto sparse = std::make_shared<data::SparseRows>(4);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::vector<uint32_t> at;
    std::vector<double> values;
    for (uint32_t j = 0; j < 4; ++j)
      if (rows.row(i)[j] != 0) at.push_back(j), values.push_back(rows.row(i)[j]);
    sparse->add(at, values, rows.label(i));
  }
  input.rows = sparse;
  const auto same = personal_models(input);
  expect_sound(same);
  for (size_t j = 0; j < 4; ++j) EXPECT_NEAR(same->personal[j], dense->personal[j], 1e-9);
}

// The optimism of the joint model takes weight from its candidates, from no others.
TEST(Personal, OptimismIsChargedToTheJointModelOnly) {
  const auto mass = [](double optimism) {
    PersonalInput input = some_input(Logistic{}, 300);
    input.joint_optimism = optimism;
    const auto models = personal_models(input);
    double sum = 0;
    for (const PersonalCandidate& candidate : models->candidates)
      if (candidate.centre == Centre::kJoint) sum += candidate.weight;
    return sum;
  };
  EXPECT_GT(mass(0), 1.2 * mass(.01));
  EXPECT_LT(mass(1), 1e-20);
}

TEST(PersonalHostile, FewRows) {
  for (const Losses& loss : losses()) {
    for (size_t rows : {0, 1}) expect_refused(personal_models(some_input(loss, rows)), "too few");
    for (size_t rows : {2, 3, 4, 6}) expect_sound(personal_models(some_input(loss, rows)));
  }
}

TEST(PersonalHostile, ColumnsThatSayNothing) {
  for (const Losses& loss : losses()) {
    SeededRandom random(2, 0);
    auto rows = std::make_shared<data::Rows>(4);  // constant, zero, a number, the bias
    for (int i = 0; i < 50; ++i) {
      const double x = random.normal();
      rows->add(std::array{5.0, 0.0, x, 1.0}, two_classes(loss) ? (x > .3 ? 1 : -1) : x);
    }
    PersonalInput input = some_input(loss, 0);
    input.rows = rows;
    expect_sound(personal_models(input));
    input.hessian = {1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1};  // singular
    expect_sound(personal_models(input));
  }
}

TEST(PersonalHostile, SeparableRowsAndOneClass) {
  for (bool one_class : {false, true})
    for (size_t count : {12, 400}) {
      SeededRandom random(2, 0);
      auto rows = std::make_shared<data::Rows>(4);
      for (size_t i = 0; i < count; ++i) {
        const double x = random.normal();
        rows->add(std::array{x, random.normal(), 100 * x, 1.0}, one_class || x > 0 ? 1 : -1);
      }
      PersonalInput input = some_input(Logistic{}, 0);
      input.rows = rows;
      const auto models = personal_models(input);
      expect_sound(models);
      EXPECT_LT(models->candidates.front().cv_loss, 1);
      // One class is fitted the better the larger the bias is; it must not run away.
      for (const PersonalCandidate& candidate : models->candidates)
        EXPECT_LT(candidate.shape == PullShape::kOwnBias ? std::fabs(candidate.theta[3]) : 0, 1e3);
    }
}

TEST(PersonalHostile, OneColumn) {
  for (const Losses& loss : losses())
    for (bool is_bias : {false, true}) {
      auto rows = std::make_shared<data::Rows>(1);
      for (int i = 0; i < 20; ++i) rows->add(std::array{1.0}, i % 3 == 0 ? 1 : -1);
      expect_sound(personal_models({.loss = loss,
                                    .rows = rows,
                                    .bias = is_bias ? std::optional<size_t>(0) : std::nullopt,
                                    .pilot = {.1},
                                    .hessian = {1},
                                    .joint = {-.2}}));
    }
}

TEST(PersonalHostile, LabelsThatAreExactOrHuge) {
  for (double scale : {0.0, 1.0, 1e6, 1e100}) {
    auto rows = std::make_shared<data::Rows>(2);
    for (int i = 0; i < 30; ++i) rows->add(std::array{i / 30.0, 1.0}, scale * (i / 30.0 - 2));
    for (const Losses& loss : {Losses(Squared{}), Losses(Huber{1})})
      expect_sound(personal_models(
          {.loss = loss, .rows = rows, .bias = 1, .pilot = {.1, .1}, .joint = {1, -2}}));
  }
}

// A joint model gone astray is ignored, as far as numbers go.
TEST(PersonalHostile, AWildJointModel) {
  for (const Losses& loss : losses())
    for (double wild : {1e3, 1e10, 1e200, 1e308}) {
      PersonalInput input = some_input(loss, 320);
      input.joint = {wild, -wild, wild, wild};
      const auto models = personal_models(input);
      expect_sound(models);
      for (size_t j = 0; j < 4; ++j) EXPECT_NEAR(models->personal[j], models->own_public[j], .05);
    }
}

TEST(PersonalHostile, WhatIsNotANumberOrDoesNotFitIsRefused) {
  const PersonalInput good = some_input(Squared{}, 30);
  const auto with = [&](const auto& change) {
    PersonalInput input = good;
    change(input);
    return personal_models(input);
  };
  expect_refused(with([](auto& input) { input.joint[1] = NAN; }), "joint model is not finite");
  expect_refused(with([](auto& input) { input.pilot[0] = INFINITY; }), "not finite");
  expect_refused(with([](auto& input) { input.hessian[2] = NAN; }), "Hessian");
  expect_refused(with([](auto& input) { input.hessian[1] = 7; }), "symmetric");
  expect_refused(with([](auto& input) { input.hessian[0] = -1; }), "negative");
  expect_refused(with([](auto& input) { input.joint_optimism = NAN; }), "optimism");
  expect_refused(with([](auto& input) { input.joint.push_back(1); }), "5 columns");
  expect_refused(with([](auto& input) { input.joint.pop_back(); }), "different columns");
  expect_refused(with([](auto& input) { input.hessian.pop_back(); }), "different columns");
  expect_refused(with([](auto& input) { input.bias = 4; }), "bias");
  expect_refused(with([](auto& input) { input.loss = Hinge{}; }), "hinge");
}

}  // namespace personal_test
}  // namespace parley::learn
