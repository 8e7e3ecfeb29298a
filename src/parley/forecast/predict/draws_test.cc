#include <gtest/gtest.h>

#include "parley/base/math/seeded_random.h"
#include "parley/forecast/pilot/statistics.h"
#include "parley/forecast/predict/predict.h"
#include "parley/plan/vertical_terms.h"
#include "support/columns_charter.h"

namespace parley::forecast {
namespace sharing_test {

constexpr size_t kColumns = 6;

SharedRows rows_of(size_t count) {
  auto rows = std::make_shared<data::Rows>(kColumns);
  SeededRandom random(3, 2);
  for (size_t i = 0; i < count; ++i) {
    std::vector<double> z(kColumns);
    double score = .3 * random.normal();
    for (double& value : z) value = .8 * random.uniform() - .4;
    for (size_t j = 0; j < kColumns; j += 2) score += z[j];
    rows->add(z, score > 0 ? 1 : -1);
  }
  return rows;
}

charter::Charter charter_with(double epsilon, const std::string& rule, const std::string& step) {
  auto charter = charter::parse_charter(test::columns_charter(epsilon, 4000, rule, 20, step),
                                        "columns.toml", {});
  EXPECT_TRUE(charter) << describe(charter.error());
  return *charter;
}

TEST(Sharing, NoiseIsTheOneThatTheTermsHave) {
  const auto charter = charter_with(2, "gradients", "0.5");
  const auto terms = plan::vertical_terms(charter);
  ASSERT_TRUE(terms) << describe(terms.error());
  const PilotStatistics statistics = statistics_of(charter.model, rows_of(1000));
  const auto job = job_of(charter, statistics);
  ASSERT_TRUE(job) << describe(job.error());
  const double real = terms->noise.scale() * terms->plan.unit() / 4000;  // of half the squares
  EXPECT_NEAR(job->variance() / (4 * real * real), 1, 1e-4);
}

// Moments and runs of the parties' own steps. 400 runs of six directions have a standard error of
// 3 %; six of them.
TEST(Sharing, MomentsAreThoseOfThePartiesSteps) {
  for (const char* step : {"0.5", "3.0"}) {
    const auto charter = charter_with(3, "gradients", step);
    const PilotStatistics statistics =
        statistics_of(charter.model, as_trained(charter, rows_of(3000)));
    const auto job = job_of(charter, statistics);
    ASSERT_TRUE(job);
    const auto& shared = std::get<VerticalJob>(job->kind);
    const Prediction found = predict(statistics, *job, {});
    EXPECT_EQ(found.predictor, "moments") << step;
    const double runs =
        mean_excess(statistics, vertical_runs(statistics, shared, shared.variance, 400).models);
    EXPECT_NEAR(runs / found.excess, 1, .18) << step;
    const double quiet = mean_excess(statistics, vertical_runs(statistics, shared, 0, 1).models);
    EXPECT_NEAR(quiet / found.optimisation, 1, 1e-6) << step;
  }
}

TEST(Sharing, ABallThatIsMetIsRunAndHoldsTheNoiseBack) {
  const auto loud = charter_with(.05, "gradients", "3.0");
  const PilotStatistics statistics = statistics_of(loud.model, as_trained(loud, rows_of(3000)));
  const auto job = job_of(loud, statistics);
  ASSERT_TRUE(job);
  const auto& shared = std::get<VerticalJob>(job->kind);
  const Prediction found = predict(statistics, *job, {});
  EXPECT_EQ(found.predictor, "draws");
  EXPECT_LT(found.excess, predict(statistics, without_balls(shared), {.runs = false}).excess);
}

TEST(Columns, OfAGroupAreItsOwnFeatures) {
  const auto charter = charter_with(1, "gradients", "0.5");
  EXPECT_EQ(feature_owners(charter), (std::vector<size_t>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(label_holder(charter), 1u);
  const auto rows = rows_of(5);
  const auto own = features_of(charter, *rows, {0, 2});
  ASSERT_EQ(own->columns(), 4u);
  EXPECT_EQ(own->row(3)[2], rows->row(3)[4]);
  const auto group = charter_of(charter, {0, 2});
  EXPECT_EQ(group.owners.size(), 2u);
  EXPECT_EQ(group.schema.features().size(), 4u);
  EXPECT_EQ(feature_owners(group), (std::vector<size_t>{0, 0, 1, 1}));
}

}  // namespace sharing_test
}  // namespace parley::forecast
