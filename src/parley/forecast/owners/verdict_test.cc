#include "parley/forecast/owners/verdict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "parley/base/math/chi_square.h"
#include "parley/base/math/portable.h"
#include "parley/base/math/seeded_random.h"

namespace parley::forecast {
namespace own_figures_test {

TEST(ChiSquare, QuantilesMatchTheGolden) {  // V8
  const double freedom[] = {10, 38, 124}, golden[] = {29.76305029, 70.79369599, 178.4578475};
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(wilson_hilferty(freedom[i], normal_quantile(.999)) / golden[i], 1, 1e-9);
}

TEST(ChiSquare, DrawsAndNodesHaveMeanOneAndVarianceTwoOverFreedom) {
  for (const size_t freedom : {1, 2, 3, 4, 30}) {
    SeededRandom random(3, freedom);
    double mean = 0, squares = 0;
    constexpr int kDraws = 40000;
    for (int i = 0; i < kDraws; ++i) {
      const double x = chi_square_share(random, freedom);
      mean += x / kDraws, squares += x * x / kDraws;
    }
    EXPECT_NEAR(mean, 1, .03) << freedom;
    EXPECT_NEAR(squares - mean * mean, 2 / static_cast<double>(freedom), .1) << freedom;
  }
  double mean = 0;
  for (double x : chi_square_3_nodes()) mean += x / kChiSquareNodes;
  EXPECT_NEAR(mean, 1, .01);
}

TEST(OwnFigures, MatchTheGoldenOfOnePull) {  // V5
  const double own = 12. / 200, weight = 200. / 5000;
  const double joint = .1 * ((1 - weight) * (1 - weight) + .03) + 12. / 5000 + .02;
  const Pulled found = best_pull(own, joint, weight * own);
  EXPECT_NEAR(found.alone, .03, 1e-12);
  EXPECT_NEAR(found.other, .05878, 1e-12);
  EXPECT_NEAR(found.best, .02039777726, 1e-11);
  EXPECT_NEAR(found.pull, .5001736714, 1e-10);
}

TEST(OwnFigures, MatchTheGoldenOfRidgeAndBothCentres) {  // V6
  const double own = sampling_distance(12, 200, 12);
  EXPECT_NEAR(own, .06417112299, 1e-11);
  const OwnFigures found =
      own_figures({.rows = 200, .weight = .04, .others = .03}, {.own = own,
                                                                .pilot = 12. / 300,
                                                                .joint = 12. / 5000 + .02,
                                                                .constant = .5,
                                                                .tau = .1,
                                                                .own_tau = .1});
  EXPECT_NEAR(found.alone, .02898550725, 1e-11);
  EXPECT_NEAR(found.personal, .0202313076, 1e-11);
  EXPECT_NEAR(found.alone - found.personal, .008754199645, 1e-11);
  EXPECT_NEAR(found.joint, .05878, 1e-12);
}

TEST(OwnFigures, HaveTheirLimits) {
  const OwnerPlace place{.rows = 100, .weight = .1, .others = .09};
  const double infinite = std::numeric_limits<double>::infinity();
  // Without a pilot, own + public is the plain optimum, and the joint model the only centre.
  const OwnFigures no_pilot =
      own_figures(place, {.own = .1, .pilot = infinite, .joint = .02, .constant = .3});
  EXPECT_DOUBLE_EQ(no_pilot.own_public, .05);
  EXPECT_DOUBLE_EQ(no_pilot.personal, .1 * .02 / .12 / 2);
  // Endless own rows leave nothing to gain, endless noise leaves own + public.
  const OwnFigures rich = own_figures(place, {.own = 0, .pilot = .1, .joint = .02, .constant = .3});
  EXPECT_EQ(rich.alone, 0);
  EXPECT_EQ(rich.personal, 0);
  const OwnFigures loud =
      own_figures({.rows = 1}, {.own = .1, .pilot = .1, .joint = infinite, .constant = .3});
  EXPECT_DOUBLE_EQ(loud.personal, loud.own_public);
  EXPECT_DOUBLE_EQ(sampling_distance(12, 3, 50), 12);  // at least a third of the rows
}

TEST(OwnFigures, PlacesFollowFromRowsAndWeights) {
  const std::vector<double> rows = {100, 300, 600}, by_rows = {.1, .3, .6}, alike(3, 1. / 3);
  EXPECT_NEAR(joint_rows(rows, by_rows), 1000, 1e-9);
  EXPECT_NEAR(joint_rows(rows, alike), 9 / (.01 + 1. / 300 + 1. / 600), 1e-9);
  const OwnerPlace place = place_of(1, rows, by_rows);
  EXPECT_DOUBLE_EQ(place.weight, .3);
  EXPECT_NEAR(place.others, .37, 1e-15);
}

/// A job in coordinates in which H is the identity: a vector of N(0, distance/p) per coordinate has
/// that expected squared length.
constexpr size_t kColumns = 8, kOwners = 20;
using Vector = std::vector<double>;

Vector drawn(SeededRandom& random, double distance) {
  Vector found(kColumns);
  for (double& value : found) value = std::sqrt(distance / kColumns) * random.normal();
  return found;
}
Vector mixed(const Vector& a, double weight, const Vector& b) {
  Vector found(kColumns);
  for (size_t j = 0; j < kColumns; ++j) found[j] = weight * a[j] + (1 - weight) * b[j];
  return found;
}
double excess(const Vector& model, const Vector& best) {
  double sum = 0;
  for (size_t j = 0; j < kColumns; ++j) sum += (model[j] - best[j]) * (model[j] - best[j]);
  return sum / 2;
}

/// Mean and standard error of simulated figures.
struct Simulated {
  double sum = 0, squares = 0, count = 0;
  void add(double value) { sum += value, squares += value * value, ++count; }
  double mean() const { return sum / count; }
  double error() const { return std::sqrt((squares / count - mean() * mean()) / count); }
};

/// Section 10, test 1. A figure is off by more than 3 standard errors in 0.3 % of seeds; 14 figures
/// of this seed are checked.
TEST(OwnFigures, AgreeWithSimulatedJobs) {
  constexpr double dS = 10, n0 = 400, dQ = .02, d0 = .6;
  for (const double tau : {0.0, .2}) {
    Vector rows, weights;
    for (size_t i = 0; i < kOwners; ++i) rows.push_back(i % 2 ? 600 : 150);
    for (double n : rows) weights.push_back(n / 7500);
    const OwnerPlace place = place_of(0, rows, weights);
    const double own = dS / rows[0];
    const Distances at{own, dS / n0, dS / 7500 + dQ, d0, tau, tau};
    const OwnFigures figures = own_figures(place, at);
    const Pulled pulled = best_pull(own, 2 * figures.joint, place.weight * own);
    Simulated alone, plain, own_public, joint, towards_joint, personal;
    SeededRandom random(7, 1);
    for (int job = 0; job < 4000; ++job) {
      const Vector middle = drawn(random, d0), zero(kColumns);
      Vector all = drawn(random, dQ), best, optimum;
      for (size_t j = 0; j < kColumns; ++j) all[j] += middle[j];
      for (size_t i = 0; i < kOwners; ++i) {
        const Vector apart = drawn(random, tau), luck = drawn(random, dS / rows[i]);
        for (size_t j = 0; j < kColumns; ++j) all[j] += weights[i] * (apart[j] + luck[j]);
        if (i > 0) continue;
        best = middle, optimum = middle;
        for (size_t j = 0; j < kColumns; ++j) best[j] += apart[j], optimum[j] += apart[j] + luck[j];
      }
      Vector pilot = drawn(random, dS / n0);
      for (size_t j = 0; j < kColumns; ++j) pilot[j] += middle[j];
      plain.add(excess(optimum, best));
      joint.add(excess(all, best));
      const auto pull = [&](const Vector& centre, double distance) {
        return excess(mixed(optimum, distance / (own + distance), centre), best);
      };
      alone.add(pull(zero, d0 + tau));
      own_public.add(pull(pilot, tau + at.pilot));
      towards_joint.add(excess(mixed(optimum, 1 / (1 + pulled.pull), all), best));
      const Vector centre = mixed(pilot, at.joint / (at.joint + at.pilot), all);
      const double unlike = 2 * figures.joint - at.joint;
      personal.add(pull(centre, unlike + 1 / (1 / at.pilot + 1 / at.joint)));
    }
    const auto agree = [&](const Simulated& simulated, double closed) {
      EXPECT_NEAR(simulated.mean(), closed, 3 * simulated.error()) << "tau " << tau;
    };
    agree(plain, pulled.alone);
    agree(joint, figures.joint);
    agree(towards_joint, pulled.best);
    agree(alone, figures.alone);
    agree(own_public, figures.own_public);
    // Its own part of the joint model is neglected there: 2 % of its excess.
    EXPECT_NEAR(personal.mean(), figures.personal, .02 * figures.personal + 3 * personal.error());
  }
}

}  // namespace own_figures_test

namespace verdict_test {

/// Twenty hospitals of 200 rows, logistic, as in the golden numbers.
OwnerCase small_owner() {
  return {.place = {.rows = 200, .weight = .05, .others = .0475},
          .pilot = {.rows = 1000, .columns = 12, .sampling = {12}, .constant = .3},
          .metric = {.measure = Measure::kLogLoss,
                     .in_sample = .54,
                     .left_out = .56,
                     .middle = .55,
                     .error = .01,
                     .loss = .55},
          .tau = declared_tau(.02),
          .joint_rows = 4000,
          .noise = {.002},
          .rows_per_column = 20,
          .worth = .005};
}

TEST(Answer, FollowsFromChances) {
  const auto share = [](double high, int above) {
    std::vector<double> gains(100, 0);
    for (int i = 0; i < above; ++i) gains[size_t(i)] = high;
    return gains;
  };
  EXPECT_EQ(answer_of(share(.01, 90), .005), Answer::kWorthIt);
  EXPECT_EQ(answer_of(share(.01, 89), .005), Answer::kNotSure);
  EXPECT_EQ(answer_of(share(.01, 11), .005), Answer::kNotSure);
  EXPECT_EQ(answer_of(share(.01, 10), .005), Answer::kNoDifference);
  EXPECT_EQ(answer_of(share(-.01, 11), .005), Answer::kNotWorthIt);
  EXPECT_EQ(answer_of(share(-.01, 100), .005), Answer::kNotWorthIt);
  EXPECT_EQ(answer_of({}, .005), Answer::kNotSure);
  EXPECT_EQ(answer_of(share(std::nan(""), 1), .005), Answer::kNotSure);
}

TEST(OwnerValue, SmallOwnersGainAndLargeOnesDoNot) {
  OwnerCase owner = small_owner();
  const OwnerValue small = owner_value(owner);
  EXPECT_EQ(small.against_alone.answer, Answer::kWorthIt);
  EXPECT_GT(small.against_alone.gain.low, small.against_alone.threshold);
  EXPECT_LT(small.against_own_public.gain.mean, small.against_alone.gain.mean);
  EXPECT_LT(small.personal.mean, small.own_public.mean);
  EXPECT_LT(small.own_public.mean, small.alone.mean);
  owner.place = {.rows = 50000, .weight = .33, .others = .22};
  owner.joint_rows = 150000;
  const OwnerValue large = owner_value(owner);
  EXPECT_EQ(large.against_alone.answer, Answer::kNoDifference);
  EXPECT_EQ(large.against_own_public.answer, Answer::kNoDifference);
}

TEST(OwnerValue, MeansAreThoseOfTheClosedForms) {
  const OwnerCase owner = small_owner();
  const OwnerValue found = owner_value(owner);
  const PilotMetric& metric = owner.metric;
  EXPECT_NEAR(found.alone.mean, metric.at(found.excess.alone, .02), .005);
  EXPECT_NEAR(found.personal.mean, metric.at(found.excess.personal, .02), .005);
  EXPECT_NEAR(found.joint.mean, metric.at(found.excess.joint, .02), .005);
  EXPECT_NEAR(found.against_alone.gain.mean, found.excess.alone - found.excess.personal, .004);
  // Known exactly: it was drawn from seeds.
  EXPECT_EQ(owner_value(owner).alone.low, found.alone.low);
}

TEST(OwnerValue, NeedsTauToBeSureOfOwnersThatDiffer) {
  OwnerCase owner = small_owner();
  owner.tau = {};
  const OwnerValue alike = owner_value(owner);
  EXPECT_TRUE(alike.against_alone.alike);
  EXPECT_NE(
      sentence(alike.against_alone, name_of(Measure::kLogLoss)).find("if all owners were alike"),
      std::string::npos);
  owner.tau = declared_tau(3);  // Others' rows say nothing about mine.
  const OwnerValue unlike = owner_value(owner);
  EXPECT_FALSE(unlike.against_own_public.alike);
  EXPECT_NE(unlike.against_own_public.answer, Answer::kWorthIt);
  EXPECT_LT(unlike.against_alone.gain.mean, .5 * alike.against_alone.gain.mean);
  EXPECT_GT(unlike.joint.mean, unlike.alone.mean);
}

TEST(OwnerValue, IsNeverSureOfRareOutcomes) {
  OwnerCase owner = small_owner();
  owner.rows_per_column = 1.9;
  const OwnerValue found = owner_value(owner);
  EXPECT_EQ(found.against_alone.answer, Answer::kNotSure);
  EXPECT_EQ(found.against_own_public.answer, Answer::kNotSure);
  EXPECT_NE(sentence(found.against_alone, name_of(Measure::kLogLoss)).find("too few"),
            std::string::npos);
}

TEST(OwnerValue, SpeaksInTheMetric) {
  OwnerCase owner = small_owner();
  owner.metric = {.measure = Measure::kAuc,
                  .in_sample = .72,
                  .left_out = .7,
                  .middle = .71,
                  .error = .015,
                  .slope = .8,
                  .loss = .55};
  owner.worth = default_worth(Measure::kAuc);
  const OwnerValue auc = owner_value(owner);
  EXPECT_DOUBLE_EQ(auc.against_alone.threshold, .002);
  EXPECT_GT(auc.personal.mean, auc.alone.mean);
  EXPECT_NEAR(auc.against_alone.gain.mean, .8 * (auc.excess.alone - auc.excess.personal), .004);
  owner.metric = {.measure = Measure::kRmse,
                  .scale = 100,
                  .in_sample = 49,
                  .left_out = 51,
                  .middle = 50,
                  .error = 1,
                  .loss = .25};
  owner.worth = default_worth(Measure::kRmse);
  const OwnerValue rmse = owner_value(owner);
  EXPECT_NEAR(rmse.against_alone.threshold, .005 * rmse.alone.mean, 1e-12);
  EXPECT_GT(rmse.alone.mean, 50);
  const std::string text = sentence(rmse.against_own_public, name_of(Measure::kRmse));
  EXPECT_NE(text.find("against own + public"), std::string::npos) << text;
  EXPECT_NE(text.find("rmse better by"), std::string::npos) << text;
}

/// Owners that differ in intercepts only: their AUC is that of owners that are alike, and so is
/// what others' slopes are worth to them; their log loss is not.
TEST(OwnerValue, InterceptsMoveNoAuc) {
  OwnerCase owner = small_owner();
  owner.pilot.sampling = {11, 1};
  owner.metric = {.measure = Measure::kAuc, .middle = .71, .error = .015, .slope = .8, .loss = .55};
  owner.worth = default_worth(Measure::kAuc);
  owner.tau = {};
  const OwnerValue alike = owner_value(owner);
  owner.tau = {.from = Tau::From::kNorms, .intercept = {.4, {.4}}};
  const OwnerValue shifted = owner_value(owner);
  EXPECT_EQ(shifted.alone.mean, alike.alone.mean);
  EXPECT_EQ(shifted.joint.mean, alike.joint.mean);
  EXPECT_EQ(shifted.against_alone.gain.mean, alike.against_alone.gain.mean);
  owner.tau = {.from = Tau::From::kNorms, .slopes = {.4, {.4}}};
  const OwnerValue bent = owner_value(owner);
  EXPECT_GT(bent.alone.mean, alike.alone.mean) << "own slopes serve own people";
  EXPECT_LT(bent.against_alone.gain.mean, alike.against_alone.gain.mean);
  owner.metric = small_owner().metric;
  const OwnerValue loss = owner_value(owner);
  owner.tau = {.from = Tau::From::kNorms, .intercept = {.4, {.4}}};
  const OwnerValue of_shifted = owner_value(owner);
  EXPECT_GT(of_shifted.joint.mean, of_shifted.personal.mean + .1);
  EXPECT_GT(of_shifted.against_alone.gain.mean, 2 * loss.against_alone.gain.mean)
      << "an own intercept is cheap, own slopes are not";
}

TEST(Sentence, CallsALossALoss) {
  Verdict verdict{.against = Against::kOwnPublic, .answer = Answer::kNotSure, .threshold = .002};
  const auto said = [&](double mean, double low, double high) {
    verdict.gain = {mean, low, high};
    verdict.alike = false;
    return sentence(verdict, "auc");
  };
  EXPECT_EQ(said(.01, .004, .02),
            "Not sure against own + public: auc better by 0.01 (0.004 to 0.02; material from "
            "0.002).");
  EXPECT_EQ(said(-.0006, -.001, .0002),
            "Not sure against own + public: auc worse by 0.0006 (0.001 worse to 0.0002 better; "
            "material from 0.002).");
  EXPECT_EQ(said(-.01, -.02, -.004),
            "Not sure against own + public: auc worse by 0.01 (0.004 to 0.02; material from "
            "0.002).");
}

/// Whatever goes in, what comes out is a number within the metric's range.
TEST(OwnerValue, StandsHostileNumbers) {
  for (const Measure measure : {Measure::kRmse, Measure::kLogLoss, Measure::kAuc})
    for (const double rows : {1.0, 2.0, 1e7})
      for (const size_t columns : {1u, 500u})
        for (const double noise : {0.0, 1e12})
          for (const double tau : {0.0, 1e-9, 1e9})
            for (const double sampling : {0.0, 1e6}) {
              OwnerCase owner = small_owner();
              owner.place = {.rows = rows, .weight = 1, .others = 0};
              owner.joint_rows = rows, owner.noise = {noise, noise}, owner.tau = declared_tau(tau);
              owner.pilot = {.rows = 1,
                             .columns = columns,
                             .sampling = {sampling, sampling},
                             .constant = 1e-9};
              owner.metric.measure = measure;
              owner.metric.middle = measure == Measure::kAuc ? 1 : 0, owner.metric.loss = 0;
              const OwnerValue found = owner_value(owner);
              for (const Range& range :
                   {found.alone, found.own_public, found.joint, found.personal}) {
                EXPECT_TRUE(range.low >= 0 && range.low <= range.high && range.mean >= 0);
                EXPECT_TRUE(std::isfinite(range.high));
                if (measure == Measure::kAuc) {
                  EXPECT_LE(range.high, 1);
                }
              }
              for (const Verdict& verdict : {found.against_alone, found.against_own_public})
                EXPECT_TRUE(std::isfinite(verdict.gain.mean + verdict.gain.low + verdict.gain.high +
                                          verdict.threshold));
            }
}

}  // namespace verdict_test

}  // namespace parley::forecast
