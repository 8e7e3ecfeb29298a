// Optima that are known from elsewhere.
#include <gtest/gtest.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "parley/learn/fitness.h"
#include "parley/learn/metrics.h"

namespace parley::learn {
namespace {

std::string unpacked(const std::string& file) {
  const std::string command = "zstd -dcq '" + std::string(std::getenv("PARLEY_DATA")) + file + "'";
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  char buffer[65536];
  while (const size_t got = fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, got);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return text;
}

/// `label index:value ...` per line, indices from 1.
Rows a9a(const std::string& text) {
  constexpr size_t kColumns = 123;
  Rows rows(kColumns);
  std::vector<double> z(kColumns);
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    const double label = text[at] == '-' ? -1 : 1;
    std::fill(z.begin(), z.end(), 0.0);
    for (size_t colon = text.find(':', at); colon < end; colon = text.find(':', colon + 1)) {
      size_t index = 0;
      const size_t begin = text.rfind(' ', colon) + 1;
      std::from_chars(&text[begin], &text[colon], index);
      z.at(index - 1) = text[colon + 1] - '0';  // All values are 1.
    }
    rows.add(z, label);
    at = end + 1;
  }
  return rows;
}

TEST(RealDataA9a, LogisticOptimumIsTheKnownOne) {
  if (!std::getenv("PARLEY_DATA")) GTEST_SKIP() << "PARLEY_DATA is not set";
  const Rows train = a9a(unpacked("/a9a/a9a.zst")), test = a9a(unpacked("/a9a/a9a.t.zst"));
  ASSERT_EQ(train.size(), 32'561u);
  ASSERT_EQ(test.size(), 16'281u);
  const auto n = double(train.size());
  Fitness fitness(Logistic{}, 123, 1 / n, 2);  // lambda = 1 in the sum form
  fitness.add(train);
  const Optimum best = fitness.minimum(1e6);
  EXPECT_LT(best.relative_gap, 1e-8);
  EXPECT_NEAR(n * best.fitness, 10529.5626, 6e-5);
  std::vector<double> scores;
  for (size_t i = 0; i < test.size(); ++i) {
    double score = 0;
    for (size_t j = 0; j < 123; ++j) score += best.theta[j] * test.row(i)[j];
    scores.push_back(score);
  }
  EXPECT_NEAR(accuracy(scores, {test.labels(), test.size()}), 0.849, 0.001);
  EXPECT_NEAR(*auc(scores, {test.labels(), test.size()}), 0.90, 0.01);
}

// Real rows have many equal margins and columns that depend on each other.
TEST(RealDataA9a, EveryLossIsCertified) {
  if (!std::getenv("PARLEY_DATA")) GTEST_SKIP() << "PARLEY_DATA is not set";
  const Rows train = a9a(unpacked("/a9a/a9a.zst"));
  for (const Losses& loss : {Losses(Squared{}), Losses(Hinge{}), Losses(Huber{0.5})})
    for (double box : {0.25, 100.0}) {
      Fitness fitness(loss, 123, 1e-4, 2);
      fitness.add(train);
      EXPECT_LT(fitness.minimum(box).relative_gap, 1e-8) << name_of(loss) << " " << box;
    }
}

}  // namespace
}  // namespace parley::learn
