// Optima that are known from elsewhere.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "parley/data/readers/libsvm.h"
#include "parley/learn/fitness.h"
#include "parley/learn/metrics.h"

namespace parley::learn {
namespace real_data_test {

constexpr size_t kColumns = 123;

data::SparseRows a9a(const std::string& file) {
  data::Schema schema;
  for (size_t j = 0; j < kColumns; ++j)
    schema.columns.push_back({.name = std::to_string(j + 1), .low = 0, .high = 1});
  schema.target = {.column = "label", .levels = {"-1", "+1"}};
  auto read =
      data::read_libsvm_sparse(std::string(std::getenv("PARLEY_DATA")) + "/a9a/" + file, schema);
  EXPECT_TRUE(read) << describe(read.error());
  return std::move(read->rows);
}

TEST(RealDataA9a, LogisticOptimumIsTheKnownOne) {
  if (!std::getenv("PARLEY_DATA")) GTEST_SKIP() << "PARLEY_DATA is not set";
  const data::SparseRows train = a9a("a9a.zst"), test = a9a("a9a.t.zst");
  ASSERT_EQ(train.size(), 32'561u);
  ASSERT_EQ(test.size(), 16'281u);
  const auto n = double(train.size());
  Fitness fitness(Logistic{}, kColumns, 1 / n, 2);  // lambda = 1 in the sum form
  fitness.add(train);
  const Optimum best = fitness.minimum(1e6);
  EXPECT_LT(best.relative_gap, 1e-8);
  EXPECT_NEAR(n * best.fitness, 10529.5626, 6e-5);
  std::vector<double> scores;
  for (size_t i = 0; i < test.size(); ++i) {
    double score = 0;
    for (size_t k = 0; k < test.row_indices(i).size(); ++k)
      score += best.theta[test.row_indices(i)[k]] * test.row_values(i)[k];
    scores.push_back(score);
  }
  EXPECT_NEAR(accuracy(scores, {test.labels(), test.size()}), 0.849, 0.001);
  EXPECT_NEAR(*auc(scores, {test.labels(), test.size()}), 0.90, 0.01);
}

// Real rows have many equal margins and columns that depend on each other.
TEST(RealDataA9a, EveryLossIsCertified) {
  if (!std::getenv("PARLEY_DATA")) GTEST_SKIP() << "PARLEY_DATA is not set";
  const data::SparseRows train = a9a("a9a.zst");
  for (const Losses& loss : {Losses(Squared{}), Losses(Hinge{}), Losses(Huber{0.5})})
    for (double box : {0.25, 100.0}) {
      Fitness fitness(loss, kColumns, 1e-4, 2);
      fitness.add(train);
      EXPECT_LT(fitness.minimum(box).relative_gap, 1e-8) << name_of(loss) << " " << box;
    }
}

}  // namespace real_data_test
}  // namespace parley::learn
