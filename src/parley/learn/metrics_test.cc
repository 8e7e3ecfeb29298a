#include "parley/learn/metrics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/entropy.h"

namespace parley::learn {
namespace metrics_test {

using test::SeededEntropy, test::uniform;
using Numbers = std::vector<double>;

TEST(Metrics, OfNumbersAreTheHandComputedOnes) {
  const Numbers predicted = {1, 2, 3, 4}, labels = {1, 2, 5, 4};
  EXPECT_DOUBLE_EQ(rmse(predicted, labels), 1);                   // sqrt(4/4)
  EXPECT_DOUBLE_EQ(*r_squared(predicted, labels), 1 - 4 / 10.0);  // spread about 3: 4+1+4+1
  EXPECT_DOUBLE_EQ(*r_squared(labels, labels), 1);
  EXPECT_DOUBLE_EQ(*r_squared(Numbers(4, 3.0), labels), 0) << "the mean explains nothing";
  EXPECT_FALSE(r_squared(predicted, Numbers(4, 2.0)));
}

TEST(Metrics, OfClassesAreTheHandComputedOnes) {
  const Numbers scores = {3, 2, 1, 0, -1}, labels = {1, -1, 1, -1, 1};
  EXPECT_DOUBLE_EQ(accuracy(scores, labels), 3 / 5.0) << "a score of 0 is -1";
  EXPECT_DOUBLE_EQ(*auc(scores, labels), 3 / 6.0);  // 3 wins twice, 1 once, -1 never
  // Thresholds pass 1/1, 1/2, 2/3, 2/4, 3/5 true ones.
  EXPECT_DOUBLE_EQ(*precision_at_recall(scores, labels, 1 / 3.0), 1);
  EXPECT_DOUBLE_EQ(*precision_at_recall(scores, labels, 0.5), 2 / 3.0);
  EXPECT_DOUBLE_EQ(*precision_at_recall(scores, labels, 0.8), 3 / 5.0);
  EXPECT_DOUBLE_EQ(log_loss(Numbers{0, 0}, Numbers{1, -1}), std::log(2));
  EXPECT_NEAR(log_loss(Numbers{2, -3}, Numbers{1, 1}),
              -(std::log(1 / (1 + std::exp(-2.0))) + std::log(1 / (1 + std::exp(3.0)))) / 2, 1e-15);
  EXPECT_TRUE(std::isfinite(log_loss(Numbers{1e9}, Numbers{-1})));
}

TEST(Auc, CountsTiesHalfAndNeedsBothClasses) {
  EXPECT_DOUBLE_EQ(*auc(Numbers{1, 1, 1, 1}, Numbers{1, -1, 1, -1}), 0.5);
  EXPECT_DOUBLE_EQ(*auc(Numbers{2, 1, 1, 0}, Numbers{1, 1, -1, -1}), 3.5 / 4);
  EXPECT_FALSE(auc(Numbers{1, 2}, Numbers{1, 1}));
  EXPECT_FALSE(precision_at_recall(Numbers{1, 2}, Numbers{-1, -1}, 0.8));
}

/// By definition: all pairs.
double auc_of_pairs(const Numbers& scores, const Numbers& labels) {
  double won = 0, pairs = 0;
  for (size_t i = 0; i < scores.size(); ++i)
    for (size_t j = 0; j < scores.size(); ++j) {
      if (labels[i] < 0 || labels[j] > 0) continue;
      won += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
      pairs += 1;
    }
  return won / pairs;
}

/// By definition: every score as threshold.
double precision_of_thresholds(const Numbers& scores, const Numbers& labels, double recall) {
  double best = 0;
  for (double threshold : scores) {
    double passed = 0, right = 0, positives = 0;
    for (size_t i = 0; i < scores.size(); ++i) {
      passed += scores[i] >= threshold;
      right += scores[i] >= threshold && labels[i] > 0;
      positives += labels[i] > 0;
    }
    if (right >= recall * positives) best = std::fmax(best, right / passed);
  }
  return best;
}

TEST(Metrics, RankingMetricsEqualTheirDefinitions) {
  SeededEntropy entropy(1, "metrics");
  for (int round = 0; round < 50; ++round) {
    const size_t n = 2 + entropy.word() % 150;
    const uint64_t distinct = 1 + entropy.word() % 40;  // many ties
    Numbers scores(n), labels(n);
    for (size_t i = 0; i < n; ++i) {
      scores[i] = double(entropy.word() % distinct);
      labels[i] = uniform(entropy) < scores[i] / double(distinct) ? 1 : -1;
    }
    labels[0] = 1, labels[1] = -1;
    EXPECT_NEAR(*auc(scores, labels), auc_of_pairs(scores, labels), 1e-12);
    for (double recall : {0.1, 0.5, 0.8, 1.0})
      EXPECT_NEAR(*precision_at_recall(scores, labels, recall),
                  precision_of_thresholds(scores, labels, recall), 1e-12);
  }
}

TEST(Metrics, ListHoldsWhatTheDataDefines) {
  const auto names = [](const std::vector<Metric>& metrics) {
    std::string all;
    for (const Metric& metric : metrics) all += std::string(metric.name) + " ";
    return all;
  };
  EXPECT_EQ(names(metrics_of(Output::kValue, Numbers{1, 2}, Numbers{1, 3})), "rmse r2 ");
  EXPECT_EQ(names(metrics_of(Output::kLogOdds, Numbers{1, 2}, Numbers{-1, 1})),
            "accuracy log_loss auc precision_at_recall_0.8 ");
  EXPECT_EQ(names(metrics_of(Output::kClassScore, Numbers{1, 2}, Numbers{-1, -1})), "accuracy ");
}

}  // namespace metrics_test
}  // namespace parley::learn
