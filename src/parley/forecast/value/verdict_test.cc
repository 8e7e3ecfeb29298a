#include "parley/forecast/value/verdict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace parley::forecast {
namespace verdict_test {

/// Twenty hospitals of 200 rows, logistic, as in the golden numbers.
OwnerCase small_owner() {
  return {.place = {.rows = 200, .weight = .05, .others = .0475},
          .pilot = {.rows = 1000, .columns = 12, .sampling = 12, .constant = .3},
          .metric = {.measure = Measure::kLogLoss,
                     .in_sample = .54,
                     .left_out = .56,
                     .middle = .55,
                     .error = .01,
                     .loss = .55},
          .tau = declared_tau(.02),
          .joint_rows = 4000,
          .noise = .002,
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
              owner.joint_rows = rows, owner.noise = noise, owner.tau = declared_tau(tau);
              owner.pilot = {.rows = 1, .columns = columns, .sampling = sampling, .constant = 1e-9};
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
