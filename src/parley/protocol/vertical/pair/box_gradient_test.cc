#include "parley/learn/vertical/cells/box_gradient.h"

#include <gtest/gtest.h>

#include <cmath>

#include "parley/plan/vertical_terms.h"
#include "support/cells_charter.h"

namespace parley::learn {
namespace box_gradient_test {

constexpr const char* kRounds = "rule = \"gradients\"\nrounds = 3\nstep = 1.0\n";

plan::VerticalTerms terms_of(const std::string& text) {
  const auto charter = charter::parse_charter(text, "cells.toml", {});
  EXPECT_TRUE(charter) << (charter ? "" : describe(charter.error()));
  const auto terms = plan::vertical_terms(*charter);
  EXPECT_TRUE(terms) << (terms ? "" : describe(terms.error()));
  return *terms;
}

TEST(BoxGradient, GridAndSensitivityFollowFromTheCells) {
  const plan::VerticalTerms terms = terms_of(test::cells_charter(1, 1000, kRounds));
  const BoxGradient& grid = *terms.grid;
  EXPECT_EQ(grid.row_bits, 5);
  // job 32, age 32, bias 32 | hours 16, home 32.
  EXPECT_EQ(grid.reach.squares, 4 * 1024 + 256);
  EXPECT_EQ(grid.reach.sum, 4 * 32 + 16);
  EXPECT_EQ(grid.reach.met, 2 + 1 + 1 + 1 + 2);
  EXPECT_EQ(grid.half(), 2048);
  EXPECT_EQ(grid.kappa, 2048 * 32 / 4);
  EXPECT_EQ(grid.label.largest(), 1);
  const double row = std::sqrt(grid.reach.squares);
  EXPECT_NEAR(terms.sensitivity,
              grid.reach.squares * 2048 * std::sqrt(7.0) + 2 * row * double(grid.kappa), 1);
  EXPECT_EQ(terms.rounds, 3u);
  EXPECT_EQ(terms.columns, (std::vector<size_t>{5, 3}));
  // One unit of a coefficient times one of a row, times one of a row.
  EXPECT_DOUBLE_EQ(grid.unit(), 4. / 2048 / 32 / 32);
  EXPECT_DOUBLE_EQ(terms.deviation(), terms.noise.scale() * std::sqrt(2.0));
}

TEST(BoxGradient, CoefficientsAreTheNearestOnTheGrid) {
  BoxGradient grid;
  grid.box = 4;
  const std::vector<double> x{0, 4, -4, 1e9, -1e9, 4. / 2048, 1.51 * 4 / 2048, -.4 * 4 / 2048};
  EXPECT_EQ(grid.nearest(x), (std::vector<int64_t>{0, 2047, -2048, 2047, -2048, 1, 2, 0}));
}

TEST(BoxGradient, ALabelThatIsANumberIsAsFineAsKappaAllows) {
  const auto text = [](const std::string& more) {
    return test::cells_charter(1, 1000, kRounds + more, "bounds = [-1, 1]");
  };
  EXPECT_EQ(terms_of(text("")).grid->label.bits, 8u);
  EXPECT_EQ(terms_of(text("")).grid->kappa, 2048 * 32 / 4 / 128);
  const BoxGradient coarse = *terms_of(text("model_bits = 6\n")).grid;  // H w / box is 256.
  EXPECT_EQ(coarse.label.bits, 3u);
  EXPECT_EQ(coarse.kappa, 64);
}

TEST(BoxGradient, SumsBeyond56BitsAreRefused) {
  BoxGradient grid = *terms_of(test::cells_charter(1, 1000, kRounds)).grid;
  EXPECT_TRUE(grid.fits(1e15));
  EXPECT_FALSE(grid.fits(0x1p55 / 12));
  grid.rows = uint64_t(0x1p55 / (grid.reach.largest * grid.largest_score())) + 1;
  EXPECT_FALSE(grid.fits(0));
}

// No two records are farther apart than the sensitivity. Rows and coefficients are random, with
// many at their ends; every other pair is made to be far apart.

using Row = std::vector<int64_t>;

Row random_row(const CellColumns& owner, Entropy& entropy) {
  std::vector<uint32_t> leaves;
  for (const Cell& cell : owner.cells())
    leaves.push_back(entropy.word() % 3 ? (entropy.word() % 2 ? cell.leaves() - 1 : 0)
                                        : uint32_t(entropy.word() % cell.leaves()));
  const auto made = rows_of(owner.cells(), leaves, owner.columns());
  return {made.begin(), made.end()};
}

struct Parts {
  std::vector<Row> rows;  // of each owner, with the label last at its holder
  int64_t label = 0;
};

Parts random_record(const plan::VerticalTerms& terms, Entropy& entropy) {
  Parts parts;
  for (size_t m = 0; m < terms.cells.size(); ++m) {
    parts.rows.push_back(random_row(terms.cells[m], entropy));
    if (m == terms.label_holder) parts.label = parts.rows[m].back();
    parts.rows[m].resize(terms.columns[m]);
  }
  return parts;
}

int64_t dot(const Row& row, const Row& n) {
  int64_t sum = 0;
  for (size_t j = 0; j < row.size(); ++j) sum += row[j] * n[j];
  return sum;
}

/// Coefficients at an end of the box, by the sign of `toward` where that is not 0.
Row coefficients(const Row& toward, int64_t half, Entropy& entropy) {
  Row n;
  for (const int64_t way : toward) {
    const bool up = way != 0 ? way > 0 : entropy.word() % 2;
    n.push_back(entropy.word() % 16 == 0 ? int64_t(entropy.word() % uint64_t(2 * half)) - half
                : up                     ? half - 1
                                         : -half);
  }
  return n;
}

double farthest_of_two(const plan::VerticalTerms& terms) {
  test::SeededEntropy entropy(1, "pairs");
  const BoxGradient& grid = *terms.grid;
  double most = 0;
  for (size_t i = 0; i < 10000; ++i) {
    Parts d = random_record(terms, entropy), e = random_record(terms, entropy);
    if (i % 4 == 0) e.rows = d.rows;  // Only the label is another.
    int64_t s = -grid.kappa * d.label, t = -grid.kappa * e.label;
    for (size_t m = 0; m < d.rows.size(); ++m) {
      Row toward(d.rows[m].size());
      for (size_t j = 0; j < toward.size() && i % 2; ++j) toward[j] = d.rows[m][j] - e.rows[m][j];
      const Row n = coefficients(toward, grid.half(), entropy);
      s += dot(d.rows[m], n), t += dot(e.rows[m], n);
    }
    double squares = 0;
    for (size_t m = 0; m < d.rows.size(); ++m)
      for (size_t j = 0; j < d.rows[m].size(); ++j) {
        const double moved = double(d.rows[m][j]) * double(s) - double(e.rows[m][j]) * double(t);
        squares += moved * moved;
      }
    most = std::max(most, std::sqrt(squares));
  }
  return most / terms.sensitivity;
}

/// With two categories at each owner and no number the bound is reached but for what labels and a
/// coefficient at its upper end lack.
std::string categories() {
  std::string text = test::cells_charter(1, 1000, kRounds);
  for (const std::string name : {"age", "hours"}) {
    const size_t at = text.find("name = \"" + name + "\""), kind = text.find("kind", at);
    const size_t end = text.find("[[", kind);
    text.replace(kind, (end == std::string::npos ? text.size() : end) - kind,
                 "kind = \"category\"\nlevels = [\"x\", \"y\", \"z\"]\n");
  }
  const std::string bias = "bias = true";
  return text.replace(text.find(bias), bias.size(), "bias = false");
}

TEST(BoxGradient, NoTwoRecordsOfTwoOwnersDifferByMoreThanTheSensitivity) {
  const double classes = farthest_of_two(terms_of(categories()));
  EXPECT_LE(classes, 1);
  EXPECT_GT(classes, .97) << "the bound is not far away";
  for (const std::string target : {"levels = [\"low\", \"high\"]", "bounds = [-1, 1]"}) {
    const double found = farthest_of_two(terms_of(test::cells_charter(1, 1000, kRounds, target)));
    EXPECT_LE(found, 1) << target;
    EXPECT_GT(found, .8) << target;
  }
}

/// Of three owners one deviates: whatever rows and coefficients it uses with each other owner. What
/// it sees itself is a product of the others' scores with rows that it chose for each.
TEST(BoxGradient, AnOwnerOfThreeThatDeviatesMovesNothingFarther) {
  const plan::VerticalTerms terms = terms_of(test::three_cells_charter(1, 1000, kRounds));
  const BoxGradient& grid = *terms.grid;
  test::SeededEntropy entropy(1, "pairs of three");
  for (size_t deviates = 0; deviates < 4; ++deviates) {  // 3: nobody
    double most = 0;
    for (size_t i = 0; i < 10000; ++i) {
      const Parts d = random_record(terms, entropy), e = random_record(terms, entropy);
      std::vector<Row> n;
      int64_t s = 0, t = 0;  // of those that keep to the protocol
      for (size_t m = 0; m < 3; ++m) {
        Row toward(d.rows[m].size());
        for (size_t j = 0; j < toward.size() && i % 2; ++j) toward[j] = d.rows[m][j] - e.rows[m][j];
        n.push_back(coefficients(toward, grid.half(), entropy));
        if (m == deviates) continue;
        s += dot(d.rows[m], n[m]), t += dot(e.rows[m], n[m]);
      }
      const bool has_label = deviates != terms.label_holder;
      if (has_label) s -= grid.kappa * d.label, t -= grid.kappa * e.label;
      double squares = 0;
      std::vector<double> seen(deviates < 3 ? terms.columns[deviates] : 0);
      for (size_t m = 0; m < 3; ++m) {
        if (m == deviates) continue;
        int64_t from = 0;  // what the one that deviates adds to this owner's scores
        if (deviates < 3) {
          const Row row = random_record(terms, entropy).rows[deviates];
          from = dot(row, coefficients(row, grid.half(), entropy));
          if (i % 3 == 0) from = -from;
          if (!has_label) from += entropy.word() % 2 ? grid.kappa : -grid.kappa;
          const int64_t label = m == terms.label_holder ? grid.kappa * (e.label - d.label) : 0;
          const int64_t moved = dot(d.rows[m], n[m]) - dot(e.rows[m], n[m]) + label;
          for (size_t j = 0; j < seen.size(); ++j) seen[j] += double(row[j]) * double(moved);
        }
        for (size_t j = 0; j < d.rows[m].size(); ++j) {
          const double moved =
              double(d.rows[m][j]) * double(s + from) - double(e.rows[m][j]) * double(t + from);
          squares += moved * moved;
        }
      }
      for (const double moved : seen) squares += moved * moved;
      most = std::max(most, std::sqrt(squares));
    }
    EXPECT_LE(most, terms.sensitivity) << deviates;
    // A deviating owner's own part does not move, so less of the bound is reached.
    EXPECT_GT(most, (deviates == 3 ? .5 : .35) * terms.sensitivity) << deviates;
  }
}

TEST(BoxGradient, WhatIsChargedIsWhatColludersMiss) {
  const auto of = [](const std::string& more) {
    return terms_of(test::three_cells_charter(1, 1000, kRounds + more));
  };
  const plan::VerticalTerms alone = of(""), two = of("colluders = 2\n"),
                            one = of("colluders = 1\n");
  EXPECT_FALSE(alone.shares);
  EXPECT_EQ(alone.noise.variance(), two.noise.variance()) << "all but one is the default";
  ASSERT_TRUE(one.shares);
  EXPECT_EQ(one.shares->parties().honest(), 2u);
  EXPECT_GE(one.noise.variance(), alone.noise.variance() / 2);
  EXPECT_LT(one.noise.variance(), alone.noise.variance() * .51);
  EXPECT_GE(one.cost().amount, one.sensitivity * one.sensitivity / (4 * one.noise.variance()));
}

}  // namespace box_gradient_test
}  // namespace parley::learn
