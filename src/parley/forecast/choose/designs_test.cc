#include <gtest/gtest.h>

#include <cmath>

#include "parley/base/math/seeded_random.h"
#include "parley/data/transforms/bounds_bundle.h"
#include "parley/data/transforms/transform.h"
#include "parley/forecast/choose/open.h"
#include "parley/forecast/predict/predict.h"

namespace parley::forecast {
namespace designs_test {

/// An open draft: two numbers, a logarithm, a category in levels and one as an integer.
constexpr std::string_view kDraft = R"([charter]
version = 1
name = "open"
consortium = "x.example"
[target]
column = "y"
bounds = [-1, 1]
[[column]]
name = "a"
kind = "number"
bounds = [10, 30]
missing = 20
[[column]]
name = "b"
kind = "number"
bounds = [0, 99]
missing = 0
log = true
[[column]]
name = "c"
kind = "category"
levels = ["x", "y"]
other = true
[[column]]
name = "d"
kind = "category"
levels = ["no", "yes"]
encode = "integer"
[model]
loss = "squared"
bias = true
box = 5
[protocol]
[privacy]
delta = 1e-6
[[owner]]
name = "one"
rows = 1000
epsilon = 1
[[owner]]
name = "two"
rows = 3000
epsilon = 1
[[owner]]
name = "three"
rows = 1000
epsilon = 0.5
[[owner]]
name = "four"
rows = 1000
epsilon = 1
[learner]
name = "learner"
)";

Draft draft() {
  auto charter = charter::parse_charter(kDraft, "draft", ".");
  EXPECT_TRUE(charter) << describe(charter.error());
  return {*std::move(charter), std::string(kDraft), {}, true};
}

const ProtocolOption& way_of(const std::vector<ProtocolOption>& ways, ProtocolOption::Kind kind) {
  for (const ProtocolOption& option : ways)
    if (option.kind == kind) return option;
  ADD_FAILURE() << "no such protocol";
  return ways.front();
}

/// Encoded columns of the draft.
data::Rows encoded(size_t count) {
  SeededRandom random(7, 0);
  data::Rows rows(6);
  for (size_t i = 0; i < count; ++i) {
    const double a = 10 + 20 * random.uniform(), b = std::log1p(99 * random.uniform());
    const int level = random.index(3);
    const double row[] = {
        a, b, double(level == 0), double(level == 1), double(level == 2), double(random.index(2))};
    rows.add(row, std::clamp((a - 20) / 20 + .2 * random.normal(), -1., 1.));
  }
  return rows;
}

std::shared_ptr<const data::Rows> pilot(size_t count) {
  auto rows = std::make_shared<data::Rows>(7);
  const data::Rows plain = encoded(count);
  for (size_t i = 0; i < plain.size(); ++i) {
    std::vector<double> z(plain.row(i).begin(), plain.row(i).end());
    z.push_back(1);
    rows->add(z, plain.label(i));
  }
  return rows;
}

TEST(BoundsBundle, MovesNumbersToOneAndLeavesLevels) {
  const data::Bundle bundle = data::bounds_bundle(encoded(50), draft().charter.schema, {});
  data::Transform transform(bundle);
  ASSERT_EQ(transform.features(), 6u);
  std::vector<double> z(6);
  transform.apply(std::vector<double>{10, 0, 1, 0, 0, 0}, z);
  EXPECT_EQ(z, (std::vector<double>{-1, -1, 1, 0, 0, -1}));
  transform.apply(std::vector<double>{30, std::log1p(99), 0, 0, 1, 1}, z);
  EXPECT_NEAR(z[1], 1, 1e-15);
  z[1] = 1;
  EXPECT_EQ(z, (std::vector<double>{1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(*data::bundle_from_json(to_json(bundle), "x"), bundle);
}

TEST(FeatureSets, StandardisedColumnsHaveOneDeviation) {
  const auto sets = feature_sets(draft().charter, pilot(300));
  ASSERT_GE(sets.size(), 2u);
  EXPECT_EQ(sets[0].name, "columns, standardised by the pilot");
  const data::Rows& rows = *sets[0].rows;
  EXPECT_EQ(rows.columns(), 7u) << "with the bias";
  for (size_t j = 0; j + 1 < rows.columns(); ++j) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < rows.size(); ++i)
      sum += rows.row(i)[j], squares += rows.row(i)[j] * rows.row(i)[j];
    EXPECT_NEAR(std::sqrt(squares / 299 - sum * sum / 300 / 299), .5, 1e-6);
  }
}

// k = m / (survivors - colluders) times the strictest owner's noise, against the sum of all
// owners'.
TEST(Ways, SecureSumsHaveTheNoiseOfOneOwner) {
  const auto ways = protocol_options(draft(), {});
  const ProtocolOption& own = way_of(ways, ProtocolOption::Kind::kOwnNoise);
  const ProtocolOption& sums = way_of(ways, ProtocolOption::Kind::kSecureSums);
  EXPECT_EQ(own.charter.privacy.mechanism, charter::MechanismName::kGaussian);
  const auto law = plan::NoiseLaw::of(own.charter), summed = plan::NoiseLaw::of(sums.charter);
  ASSERT_TRUE(law && summed);
  const double n = 6000;
  const double one = law->strength(1, 1e-6), strict = law->strength(.5, 1e-6);
  EXPECT_NEAR(own.variance(2), 2 * (3 * one + strict) / (n * n), 1e-9 * own.variance(2));
  EXPECT_NEAR(sums.variance(2), 3 * summed->strength(.5, 1e-6) / (n * n),
              1e-9 * sums.variance(2));  // one repeated aggregation is paid for
  EXPECT_EQ(way_of(ways, ProtocolOption::Kind::kFederated).charter.protocol.name(),
            charter::ProtocolName::kFederated);
}

TEST(Ways, WithoutADeltaOnlyLaplaceNoiseIsAccepted) {
  Draft pure = draft();
  const std::vector<charter::Override> none = {{"privacy.delta", "0"}};
  pure.charter = *charter::parse_charter(kDraft, "draft", ".", none);
  pure.changes = none;
  for (const ProtocolOption& option : protocol_options(pure, {}))
    EXPECT_EQ(option.accepted, option.l1()) << option.name;
  for (const ProtocolOption& option : protocol_options(pure, {.delta = 1e-7})) {
    EXPECT_TRUE(option.accepted && !option.l1()) << option.name;
    EXPECT_EQ(option.charter.owners[0].delta, 1e-7) << option.name;
  }
}

// The formula of theory (W9), on rows whose matrices are known.
TEST(Criterion, AddsUpSamplingNoiseAndWhatIsUnfinished) {
  auto rows = std::make_shared<data::Rows>(2);
  SeededRandom random(3, 0);
  for (int i = 0; i < 400; ++i)
    rows->add(std::vector<double>{i % 2 ? 1. : -1., i % 4 < 2 ? 1. : -1.},
              std::clamp(.3 * (i % 2 ? 1 : -1) + .1 * random.normal(), -1., 1.));
  const FeatureSet set{"two", {}, rows, false};
  const Draft open = draft();
  const auto design = design_of(open.charter, set, .1, 1);
  ASSERT_TRUE(design) << describe(design.error());
  const auto ways = protocol_options(open, {});
  const ProtocolOption& option = way_of(ways, ProtocolOption::Kind::kSecureSums);
  const auto clipped = clipped_design(*design, option, 1);
  ASSERT_TRUE(clipped);
  EXPECT_NEAR(clipped->bias, 0, 1e-9) << "nothing is clipped";
  EXPECT_NEAR(clipped->noise_gain, 2 * 2 / 2 / (2.1 * 2.1), 1e-9);  // H = 2 I, with l2 2.1 I
  const PilotStatistics& statistics = (*design)->statistics;
  const double noise = option.variance(4) * clipped->clip * clipped->clip * clipped->noise_gain / 4;
  const double expected = (*design)->metric.loss + statistics.sampling / 6000 + noise +
                          statistics.sampling / 400 * (2 * 2 / 400.) / 4;
  EXPECT_NEAR(clipped->criterion(option, 4), expected, 1e-12);
  EXPECT_EQ(paired_error(**design, **design), 0);
  EXPECT_FALSE(too_few_rows(**design));
}

Finalist made(const SharedDesign& design, ProtocolOption::Kind kind, int64_t rounds, double loss) {
  Finalist found{.design = design, .loss = loss};
  found.option.kind = kind;
  found.candidate.charter.protocol.rounds = rounds;
  return found;
}

TEST(Winner, TiesGoToTheFirstFeaturesLargerL2FewerRoundsAndTheSimplerProtocol) {
  using Kind = ProtocolOption::Kind;
  const FeatureSet first{"first", {}, pilot(10), false}, second{"second", {}, pilot(10), false};
  const auto design = [](const FeatureSet& set, double l2) {
    auto made = std::make_shared<Design>();
    made->features = &set, made->l2 = l2, made->losses = {1, 1};
    return made;
  };
  const auto small = design(first, .001), large = design(first, .01), other = design(second, .1);
  const std::vector<const FeatureSet*> order = {&first, &second};
  const auto best = [&](const std::vector<Finalist>& all) { return winner(all, order); };
  EXPECT_EQ(best({made(small, Kind::kSecureSums, 2, 1), made(small, Kind::kOwnNoise, 1, 1.1)}), 0u);
  const double same = 1.0004;  // less than a tenth of what counts
  EXPECT_EQ(best({made(other, Kind::kOwnNoise, 1, 1), made(small, Kind::kAsync, 9, same)}), 1u);
  EXPECT_EQ(best({made(small, Kind::kOwnNoise, 1, 1), made(large, Kind::kOwnNoise, 9, same)}), 1u);
  EXPECT_EQ(best({made(small, Kind::kOwnNoise, 9, 1), made(small, Kind::kAsync, 2, same)}), 1u);
  EXPECT_EQ(best({made(small, Kind::kAsync, 2, 1), made(small, Kind::kOwnNoise, 2, same)}), 1u);
  auto unsure = std::make_shared<Design>(*large);
  unsure->losses = {0, 2};  // a difference of 0.01 is within their error
  EXPECT_EQ(best({made(small, Kind::kOwnNoise, 1, 1), made(unsure, Kind::kOwnNoise, 1, 1.01)}), 1u);
}

}  // namespace designs_test
}  // namespace parley::forecast
