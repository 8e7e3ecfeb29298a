#include "parley/plan/sums/gram.h"

#include <gtest/gtest.h>

#include <cmath>

#include "parley/plan/can_run.h"
#include "parley/plan/explain.h"
#include "parley/plan/sums/share_noise.h"
#include "parley/privacy/accounting/gdp.h"

namespace parley::plan {
namespace gram_test {

/// 11 columns, 38 numbers after encoding.
GramJob golden_job(double rows) {
  const double norm = std::sqrt(12.), mu = privacy::gdp_mu(1, privacy::Delta(1e-6));
  return {.row_norm = norm,
          .columns = 38,
          .rows = rows,
          .clip = norm / 2,
          .rounds = 5,
          .surplus = 5 / 3.,
          .rho = mu * mu / 2};
}

TEST(Gram, NoiseMatchesTheGolden) {  // V10
  const GramNoise noise = gram_noise(golden_job(20000));
  EXPECT_NEAR(noise.entry, .008449357779, 1e-11);
  EXPECT_NEAR(noise.floor, .1041706788, 1e-9);
  EXPECT_NEAR(noise.gradient, .002524728537, 1e-11);
}

TEST(Gram, RefusesWhatWouldBeNoiseAndSaysWhatHelps) {
  EXPECT_TRUE(gram_notice(golden_job(20000), 1e-6));
  const GramJob few = golden_job(1000);  // floor 2.08
  const auto refused = gram_notice(few, 1e-6);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().hint.find("epsilon"), std::string::npos);
  const GramHelp help = *gram_help(few, 1e-6);
  GramJob more = few;
  more.rows = help.rows;
  EXPECT_NEAR(gram_noise(more).floor, kGramWarned, 1e-9);
  more = few, more.rho = *rho_of(help.epsilon, 1e-6);
  EXPECT_NEAR(gram_noise(more).floor, kGramWarned, 1e-3);
  more = few, more.columns = static_cast<size_t>(help.columns);
  EXPECT_LE(gram_noise(more).floor, kGramWarned);
  const auto warned = gram_notice(golden_job(5000), 1e-6);  // floor 0.42
  ASSERT_TRUE(warned);
  EXPECT_NE(warned->find("would bring it to 0.3"), std::string::npos) << *warned;
  EXPECT_EQ(gram_notice(golden_job(20000), 1e-6)->find("would"), std::string::npos);
}

struct Job {
  std::string protocol = "rule = \"gram\"\nrounds = 20\n", pilot{}, secure{}, privacy{};
  int64_t rows = 10000;
  double epsilon = 1;
};
const std::string kPilot =
    "[pilot]\nfile = \"p.csv\"\nsha256 = \"" + std::string(64, '0') + "\"\nrows = 300\n";
const std::string kAlarm = "rule = \"pilot_newton\"\nrounds = 4\nstep = 1.0\non_alarm = \"gram\"\n";

Result<charter::Charter> parsed(const Job& job) {
  std::string text =
      "[charter]\nversion = 1\nname = \"clinics\"\nconsortium = \"clinics.example\"\n" + job.pilot +
      "[target]\ncolumn = \"sick\"\nlevels = [\"no\", \"yes\"]\n"
      "[[column]]\nname = \"age\"\nkind = \"number\"\nbounds = [0.0, 90.0]\nmissing = 40.0\n"
      "[[column]]\nname = \"ward\"\nkind = \"category\"\nlevels = [\"a\", \"b\", \"c\"]\n"
      "[model]\nloss = \"logistic\"\nl2 = 1e-4\nbox = 5.0\nbias = true\n"
      "[protocol]\nname = \"sync\"\n" +
      job.protocol + "[privacy]\ndelta = 1e-6\n" + job.privacy + "[secure_aggregation]\n" +
      job.secure;
  for (const char* name : {"a", "b", "c", "d", "e"})
    text += "[[owner]]\nname = \"" + std::string(name) + "\"\nrows = " + std::to_string(job.rows) +
            "\nepsilon = " + std::to_string(job.epsilon) + "\n";
  return charter::parse_charter(text + "[learner]\nname = \"registry\"\n", "test", ".");
}

charter::Charter charter_of(const Job& job) {
  auto charter = parsed(job);
  EXPECT_TRUE(charter) << (charter ? "" : describe(charter.error()));
  return *charter;
}

TEST(Gram, BoundsOfRowsAndGradientsFollowFromTheSchema) {
  const auto charter = charter_of({});
  EXPECT_EQ(charter.privacy.max_row_norm, std::sqrt(3.0));  // a number, a category, the bias
  EXPECT_EQ(charter.privacy.max_grad_norm, std::sqrt(3.0) / 2);
  EXPECT_EQ(charter.secure_aggregation->repeats, 0);
  ASSERT_TRUE(charter.schema.bundle);  // Columns are moved to [-1, 1] by their bounds.
  EXPECT_EQ(charter.schema.bundle->mean[0], 45);
  EXPECT_EQ(charter.schema.bundle->scale[0], 45);
  EXPECT_EQ(charter.schema.bundle->scale[1], 1);
  EXPECT_EQ(charter.schema.features().size(), 5u);
  EXPECT_EQ(charter_of({.privacy = "max_row_norm = 1.5\n"}).privacy.max_grad_norm, .75);
}

/// Of all that an owner may be asked for, in rho.
double dearest(const SecaggTerms& terms) {
  using enum privacy::ReleaseKind;
  const auto all = [&](privacy::ReleaseKind kind, uint32_t most) {
    return most * terms.of(kind)->cost().amount;
  };
  const double answers = all(kAnswer, terms.answers), gram = all(kGram, terms.gram->answers);
  if (!terms.after_alarm) return gram + answers;
  return std::fmax(answers, all(kAnswer, terms.after_alarm->before) + gram +
                                all(kAfterAlarm, terms.after_alarm->answers));
}

// Whatever a learner asks for, the promise holds; and it is used, all but what lattices cost.
TEST(Gram, MatrixAndGradientsTogetherCostWhatThePromiseAllows) {
  for (const std::string& secure : {std::string("repeats = 0\n"), std::string("repeats = 2\n")})
    for (const Job& job :
         {Job{.secure = secure}, Job{kAlarm, kPilot, secure, "max_grad_norm = 1.0\n"}}) {
      const auto charter = charter_of(job);
      const auto plan = secagg_plan(charter);
      ASSERT_TRUE(plan) << describe(plan.error());
      const double rho = rho_for(charter, charter.owners[0], Part::kTraining)->value();
      EXPECT_LE(dearest(plan->owners[0]), rho);
      EXPECT_GT(dearest(plan->owners[0]), rho * (1 - 1e-6));
    }
}

// What is said beforehand is the noise that is drawn.
TEST(Gram, TheNumbersShownAreThoseOfTheMechanisms) {
  for (const Job& job : {Job{.secure = "repeats = 1\n"},
                         Job{kAlarm, kPilot, "repeats = 1\n", "max_grad_norm = 1.0\n"}}) {
    const auto charter = charter_of(job);
    const GramNoise noise = gram_noise(*gram_job(charter));
    const auto plan = secagg_plan(charter);
    const SecaggTerms& terms = plan->owners[0];
    const auto deviation = [&](const privacy::SharedMechanisms& mechanism, double unit) {
      return std::sqrt(variance_of(mechanism) * 5) * unit;
    };
    EXPECT_NEAR(deviation(terms.gram->mechanism, plan->gram.unit), noise.entry, 1e-4 * noise.entry);
    const bool alarm = terms.after_alarm.has_value();
    const double gradient = alarm ? deviation(terms.after_alarm->mechanism, plan->after_alarm.unit)
                                  : deviation(terms.mechanism, plan->unit);
    EXPECT_NEAR(gradient, noise.gradient, 1e-4 * noise.gradient);
  }
}

TEST(Gram, AMatrixOfNoiseIsRefusedBeforeAnyonePays) {
  EXPECT_TRUE(can_run(charter_of({}), 0));
  const auto few = charter_of({.rows = 10});
  const auto refused = can_run(few, 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where.key, "protocol.rule");
  EXPECT_NE(refused.error().what.find("would be noise"), std::string::npos);
  EXPECT_NE(refused.error().hint.find("would bring it to 0.3"), std::string::npos);
  EXPECT_NE(explain(few).find("REFUSED"), std::string::npos);
  EXPECT_NE(explain(charter_of({})).find("Noise on means over rows"), std::string::npos);
  const auto alarm = charter_of({kAlarm, kPilot, "", "max_grad_norm = 1.0\n", 10});
  ASSERT_FALSE(can_run(alarm, 0));
  EXPECT_EQ(can_run(alarm, 0).error().where.key, "protocol.on_alarm");
}

TEST(Gram, HingeHasNoCurvatureAndAlarmsNeedSums) {
  auto text = parsed({.protocol = "rule = \"gram\"\nrounds = 20\nstep = 1.0\n"});
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().where.key, "protocol.step");
}

}  // namespace gram_test
}  // namespace parley::plan
