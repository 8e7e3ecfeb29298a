#include "parley/plan/moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "parley/data/readers/csv.h"
#include "parley/gate/gate.h"
#include "parley/learn/solver/moments.h"
#include "parley/ledger/simulated.h"
#include "support/entropy.h"
#include "support/ledgers.h"

namespace parley::gate {
namespace moments_test {

using data::Rows;
using test::uniform;

charter::Charter charter_of(const std::string& mechanism, const std::string& target,
                            const std::string& loss) {
  std::string text =
      "[charter]\nversion = 1\nname = \"draft\"\nconsortium = \"banks.example\"\n[target]\n" +
      target +
      "[[column]]\nname = \"age\"\nkind = \"number\"\nbounds = [0.0, 100.0]\nmissing = 40.0\n"
      "[[column]]\nname = \"income\"\nkind = \"number\"\nbounds = [0.0, 1000.0]\nmissing = 0.0\n"
      "log = true\n[[column]]\nname = \"home\"\nkind = \"category\"\n"
      "levels = [\"own, or nearly\", \"rent\"]\nother = true\nencode = \"one_hot\"\n"
      "[model]\nloss = \"" +
      loss + "\"\nbox = 5.0\n[protocol]\nname = \"sync\"\n[privacy]\nmechanism = \"" + mechanism +
      "\"\n";
  for (const char* name : {"bank-a", "bank-b"})
    text += "[[owner]]\nname = \"" + std::string(name) + "\"\nrows = 4000\nepsilon = 1.0\n" +
            (mechanism == "gaussian" ? "delta = 1e-6\n" : "");
  auto charter = charter::parse_charter(text + "[learner]\nname = \"center\"\n", "draft", ".");
  EXPECT_TRUE(charter) << (charter ? "" : describe(charter.error()));
  return *charter;
}
const char kNumber[] = "column = \"y\"\nbounds = [-10.0, 30.0]\ncenter = 5.0\nscale = 2.0\n";
const char kClasses[] = "column = \"y\"\nlevels = [\"no\", \"yes\"]\n";

/// Encoded records: age, log1p(income), own, rent, other; the label leans on age and home.
std::shared_ptr<const Rows> encoded_rows(bool classes) {
  test::SeededEntropy entropy(1, "people");
  auto rows = std::make_shared<Rows>(5);
  for (int i = 0; i < 4000; ++i) {
    const double age = 30 + 40 * uniform(entropy), income = 2 + 3 * uniform(entropy);
    const double home = uniform(entropy);
    std::vector<double> z = {age, income, home < .5 ? 1.0 : 0, home >= .5 && home < .8 ? 1.0 : 0,
                             home >= .8 ? 1.0 : 0};
    const double y = .05 * (age - 50) + z[2] - .5 + .2 * (uniform(entropy) - .5);
    rows->add(z, classes ? (y > 0 ? 1 : -1) : y);
  }
  return rows;
}

// Before anyone pays: numbers in [-1, 1] under noise of deviation 1 or more tell nothing.
TEST(PaidMoments, NoiseIsSaidBeforeAndRefusedWhereItIsAllThereIs) {
  for (const char* mechanism : {"laplace", "gaussian"}) {
    const auto charter = charter_of(mechanism, kNumber, "squared");
    const auto notice = [&](double epsilon) {
      const plan::MomentsPrice price{*privacy::Epsilon::make(epsilon)};
      return plan::moments_notice(*plan::moments_terms(charter, 0, price), price);
    };
    ASSERT_TRUE(notice(1)) << describe(notice(1).error());
    EXPECT_NE(notice(1)->find("noise of deviation"), std::string::npos);
    ASSERT_FALSE(notice(.001));
    EXPECT_NE(notice(.001).error().what.find("would be noise"), std::string::npos);
    EXPECT_NE(notice(.001).error().hint.find("would bring it to 0.1"), std::string::npos);
  }
}

Result<data::PaidMoments> released(const charter::Charter& charter, size_t place,
                                   const std::shared_ptr<const Rows>& rows, double epsilon,
                                   double budget = 1e4) {
  test::StoppedClock clock;
  test::SeededEntropy entropy(place, "moments");
  auto ledger =
      TRY(ledger::Ledger::open_volatile(charter.owners[place].name, clock, ledger::Simulated{}));
  const double delta = charter.owners[place].delta;
  const auto whole = TRY(
      privacy::Budget::make(TRY(privacy::Epsilon::make(budget)), delta, delta > 0 ? 0 : budget));
  const auto data = TRY(ledger.declare("people", whole));
  const auto terms = TRY(
      plan::moments_terms(charter, place, {TRY(privacy::Epsilon::make(epsilon)), std::nullopt}));
  auto wide = TRY(data::moment_rows(rows, charter.schema));
  Gate gate = TRY(Gate::open(Records(std::make_shared<const Rows>(std::move(wide))), terms, ledger,
                             data, entropy, 1));
  const auto answer = TRY(gate.answer(1, std::vector<double>(terms.lattice.dimension())));
  return plan::paid_moments(charter, place, terms, answer);
}

Rows pilot_of(const charter::Charter& charter, std::span<const data::PaidMoments> moments,
              uint64_t count) {
  const auto text = data::drawn_pilot(moments, charter.schema, count);
  EXPECT_TRUE(text) << (text ? "" : describe(text.error()));
  const auto file = test::fresh_folder() / "pilot.csv";
  std::ofstream(file) << *text;
  const auto rows = data::read_csv(file, charter.schema);
  EXPECT_TRUE(rows) << (rows ? "" : describe(rows.error()));
  return *rows;
}

// With hardly any noise the drawn rows have the moments of the owners' rows: 20,000 rows have a
// standard error below 1 % of the deviations; the test allows 6 % and what clamping does.
TEST(PaidMoments, TheDrawnPilotHasTheMomentsOfTheRows) {
  for (const char* mechanism : {"laplace", "gaussian"}) {
    const auto charter = charter_of(mechanism, kNumber, "squared");
    const auto rows = encoded_rows(false);
    std::vector<data::PaidMoments> both;
    for (size_t place : {0, 1}) both.push_back(*released(charter, place, rows, 1000));
    const Rows pilot = pilot_of(charter, both, 20000);
    ASSERT_EQ(pilot.size(), 20000u);
    learn::Moments exact(5), drawn(5);
    exact.add(*rows, 1), drawn.add(pilot, 1);
    // The mean square of age, and its product with income, both far from 0.
    EXPECT_NEAR(drawn.product(0, 0) / exact.product(0, 0), 1, .02);
    EXPECT_NEAR(drawn.product(0, 1) / exact.product(0, 1), 1, .02);
    for (size_t level : {2, 3, 4})
      EXPECT_NEAR(drawn.product(level, level), exact.product(level, level), .06) << mechanism;
    EXPECT_NEAR(drawn.with_label(0) / exact.with_label(0), 1, .15) << mechanism;
    EXPECT_GT(drawn.with_label(2), drawn.with_label(3)) << "who owns pays more";
  }
}

TEST(PaidMoments, ClassesAreDrawnToo) {
  const auto charter = charter_of("laplace", kClasses, "logistic");
  const auto rows = encoded_rows(true);
  const std::vector<data::PaidMoments> one = {*released(charter, 0, rows, 1000)};
  const Rows pilot = pilot_of(charter, one, 20000);
  double exact = 0, drawn = 0;
  for (size_t i = 0; i < rows->size(); ++i) exact += rows->label(i) / double(rows->size());
  for (size_t i = 0; i < pilot.size(); ++i) {
    ASSERT_EQ(std::fabs(pilot.label(i)), 1);
    drawn += pilot.label(i) / double(pilot.size());
  }
  EXPECT_NEAR(drawn, exact, .06);
}

TEST(PaidMoments, ArePaidOnceWithinTheBudgetAndWithNoise) {
  const auto charter = charter_of("laplace", kNumber, "squared");
  const auto rows = encoded_rows(false);
  const auto moments = released(charter, 0, rows, .5, .5);
  ASSERT_TRUE(moments) << describe(moments.error());
  EXPECT_LE(moments->epsilon, .5);
  EXPECT_GT(moments->epsilon, .4999);
  // Sensitivity 2 * 7 * 8 / 2 of 7 numbers in [-1, 1]; scale 56 / (4000 * .5), times sqrt(2).
  EXPECT_NEAR(moments->deviation, std::sqrt(2.0) * 56 / 2000, 1e-3);
  EXPECT_EQ(released(charter, 0, rows, .6, .5).error().code, Code::kBudgetExhausted);
  EXPECT_NE(moments->upper, released(charter, 1, rows, .5, .5)->upper);
}

TEST(PaidMoments, AZeroRecordContributesNothingAndOthersAreWithinOne) {
  const auto charter = charter_of("laplace", kNumber, "squared");
  auto rows = std::make_shared<Rows>(5);
  rows->add_zero(), rows->add(std::array{100.0, 0.0, 1.0, 0.0, 0.0}, -7.5);
  const auto wide = data::moment_rows(std::shared_ptr<const Rows>(rows), charter.schema);
  ASSERT_TRUE(wide);
  for (double value : wide->row(0)) EXPECT_EQ(value, 0);
  const std::vector<double> expected = {1, 1, -1, 1, -1, -1, -1};
  EXPECT_EQ(std::vector<double>(wide->row(1).begin(), wide->row(1).end()), expected);
}

TEST(PaidMoments, TheFileReadsBackAndOtherColumnsAreRefused) {
  const auto charter = charter_of("laplace", kNumber, "squared");
  const auto moments = *released(charter, 0, encoded_rows(false), 1);
  const auto read = data::moments_from_json(to_json(moments), "a.moments.json");
  ASSERT_TRUE(read) << describe(read.error());
  EXPECT_EQ(*read, moments);
  const std::vector<data::PaidMoments> twice = {moments, moments};
  EXPECT_FALSE(data::drawn_pilot(twice, charter.schema, 10));
  auto other = charter.schema;
  other.columns[0].high = 99;
  EXPECT_FALSE(data::drawn_pilot(std::span(&moments, 1), other, 10));
  EXPECT_FALSE(data::moments_from_json("{}", "a.moments.json"));
}

}  // namespace moments_test
}  // namespace parley::gate
