#include <gtest/gtest.h>

#include <cmath>

#include "parley/plan/explain.h"
#include "parley/plan/vertical_terms.h"
#include "support/cells_charter.h"

namespace parley::plan {
namespace vertical_terms_test {

Result<charter::Charter> parsed(const std::string& text) {
  return charter::parse_charter(text, "cells.toml", {});
}

VerticalTerms terms_with_products() {
  const auto charter = parsed(test::products_charter(1, 1000));
  EXPECT_TRUE(charter) << (charter ? "" : describe(charter.error()));
  return *vertical_terms(*charter);
}

VerticalTerms terms_of(const std::string& target = "levels = [\"low\", \"high\"]") {
  const auto charter = parsed(test::cells_charter(1, 1000, "", target));
  EXPECT_TRUE(charter) << (charter ? "" : describe(charter.error()));
  return *vertical_terms(*charter);
}

TEST(CellTerms, RowsLabelAndNoiseFollowFromTheCells) {
  const VerticalTerms terms = terms_of();
  EXPECT_EQ(terms.rule, charter::Rule::kStatistics);
  EXPECT_EQ(terms.plan.bits, 5);  // age has most bits
  // job 32, age 32, bias 32 | hours 16, home 32.
  const double row = std::sqrt(3 * 1024.0 + 256 + 1024);
  EXPECT_EQ(terms.plan.label, std::ceil(row));
  EXPECT_NEAR(terms.sensitivity, std::sqrt(8.0) * row * std::ceil(row), 1);
  EXPECT_GE(terms.sensitivity, std::sqrt(8.0) * row * std::ceil(row));
  EXPECT_GE(2 * terms.beside->variance(), terms.noise.variance());
  EXPECT_LE(*sharing_epsilon(*parsed(test::cells_charter(1, 1000)), terms, 0), 1);
}

/// One record's numbers in the release, as the norm of the proof counts them.
std::vector<double> numbers_of(const std::vector<int64_t>& row, int64_t label) {
  std::vector<double> all;
  for (size_t j = 0; j < row.size(); ++j) {
    all.push_back(double(row[j] * row[j]));
    for (size_t k = j + 1; k < row.size(); ++k)
      all.push_back(std::sqrt(2.0) * double(row[j] * row[k]));
    all.push_back(std::sqrt(2.0) * double(row[j] * label));
  }
  return all;
}

std::vector<double> random_record(const VerticalTerms& terms, Entropy& entropy) {
  std::vector<int64_t> row;
  int64_t label = 0;
  for (const learn::CellColumns& owner : terms.cells) {
    std::vector<uint32_t> leaves;
    for (const learn::Cell& cell : owner.cells())
      leaves.push_back(entropy.word() % 3 ? (entropy.word() % 2 ? cell.leaves() - 1 : 0)
                                          : uint32_t(entropy.word() % cell.leaves()));
    const auto made = learn::rows_of(owner.cells(), leaves, owner.columns());
    row.insert(row.end(), made.begin(), made.begin() + long(owner.features()));
    if (owner.columns() > owner.features()) label = made.back();
  }
  return numbers_of(row, label);
}

void expect_within_sensitivity(const VerticalTerms& terms, const std::string& what) {
  test::SeededEntropy entropy(1, "pairs");
  double most = 0;
  for (size_t i = 0; i < 10000; ++i) {
    const auto a = random_record(terms, entropy), b = random_record(terms, entropy);
    double squares = 0;
    for (size_t j = 0; j < a.size(); ++j) squares += (a[j] - b[j]) * (a[j] - b[j]);
    most = std::max(most, std::sqrt(squares));
  }
  EXPECT_LE(most, terms.sensitivity) << what;
  EXPECT_GT(most, .9 * terms.sensitivity) << what << ": the bound is not far away";
}

TEST(CellTerms, NoTwoRecordsDifferByMoreThanTheSensitivity) {
  for (const std::string target : {"levels = [\"low\", \"high\"]", "bounds = [-1, 1]"})
    expect_within_sensitivity(terms_of(target), target);
  // A peer need not choose the pair that its two levels make: every leaf of a product is counted.
  expect_within_sensitivity(terms_with_products(), "products");
}

using Row = std::vector<int64_t>;

Row random_row(const learn::CellColumns& owner, Entropy& entropy) {
  std::vector<uint32_t> leaves;
  for (const learn::Cell& cell : owner.cells())
    leaves.push_back(entropy.word() % 3 ? (entropy.word() % 2 ? cell.leaves() - 1 : 0)
                                        : uint32_t(entropy.word() % cell.leaves()));
  const auto made = learn::rows_of(owner.cells(), leaves, owner.columns());
  return {made.begin(), made.end()};
}

/// What one record adds to products of two owners' columns, and to an owner's own, as the norm of
/// the proof counts them. The label stands last with its holder; its square is not opened.
void add_products(const Row& a, const Row& b, std::vector<double>& all) {
  for (const int64_t x : a)
    for (const int64_t y : b) all.push_back(std::sqrt(2.0) * double(x * y));
}
void add_own(const Row& row, size_t features, std::vector<double>& all) {
  for (size_t j = 0; j < features; ++j)
    for (size_t k = j; k < row.size(); ++k)
      all.push_back((j == k ? 1 : std::sqrt(2.0)) * double(row[j] * row[k]));
}

/// Of three owners one deviates: whatever rows, legal ones, it uses with each of the others, and
/// they stay what they are when the others' record is replaced. (docs/theory/columns.md)
TEST(CellTerms, AnOwnerThatUsesOtherRowsWithEachPeerMovesNothingFarther) {
  const VerticalTerms terms = *vertical_terms(*parsed(test::three_cells_charter(1, 1000)));
  test::SeededEntropy entropy(1, "pairs of three");
  for (size_t deviates = 0; deviates < 3; ++deviates) {
    double most = 0;
    for (size_t i = 0; i < 10000; ++i) {
      std::vector<Row> first, second, fixed;
      for (const learn::CellColumns& owner : terms.cells) {
        first.push_back(random_row(owner, entropy));
        second.push_back(random_row(owner, entropy));
        fixed.push_back(random_row(terms.cells[deviates], entropy));  // used with this owner
      }
      if (i % 4 == 0)  // Only the label is another.
        for (size_t m = 0; m < 3; ++m) {
          const int64_t label = second[m].back();
          second[m] = first[m];
          if (m == terms.label_holder) second[m].back() = i % 8 ? label : -first[m].back();
        }
      std::vector<double> a, b;
      for (const auto& [rows, all] : {std::pair(&first, &a), std::pair(&second, &b)})
        for (size_t m = 0; m < 3; ++m) {
          if (m == deviates) continue;
          add_own((*rows)[m], terms.columns[m], *all);
          add_products((*rows)[m], fixed[m], *all);
          for (size_t k = m + 1; k < 3; ++k)
            if (k != deviates) add_products((*rows)[m], (*rows)[k], *all);
        }
      double squares = 0;
      for (size_t j = 0; j < a.size(); ++j) squares += (a[j] - b[j]) * (a[j] - b[j]);
      most = std::max(most, std::sqrt(squares));
    }
    EXPECT_LE(most, terms.sensitivity) << deviates;
    EXPECT_GT(most, .5 * terms.sensitivity) << deviates << ": the bound is not far away";
  }
}

TEST(CellTerms, OfThreeOwnersRowsAndNoiseFollowFromAllCells) {
  const auto charter = *parsed(test::three_cells_charter(1, 1000));
  const VerticalTerms terms = *vertical_terms(charter);
  EXPECT_EQ(terms.columns, (std::vector<size_t>{5, 3, 4}));
  // job 32, age 32, bias 32 | hours 16, home 32 | height 8, car 32.
  const double row = std::sqrt(3 * 1024.0 + 256 + 1024 + 64 + 1024);
  EXPECT_EQ(terms.plan.label, std::ceil(row));
  EXPECT_GE(terms.sensitivity, std::sqrt(8.0) * row * std::ceil(row));
  EXPECT_LE(*sharing_epsilon(charter, terms, 2), 1);
  const double pairs = setup_bytes(terms);
  EXPECT_GT(pairs, 2 * setup_bytes(terms_of())) << "three pairs instead of one";
}

TEST(CellTerms, AProductIsOneMoreCategory) {
  const VerticalTerms terms = terms_with_products();
  EXPECT_EQ(terms.columns, (std::vector<size_t>{3 + 1 + 2 + 6 + 1, 3}));
  // Beside job, age, bias, hours and home: sex 32, both 32.
  const double row = std::sqrt(5 * 1024.0 + 256 + 1024);
  EXPECT_EQ(terms.plan.label, std::ceil(row));
  EXPECT_EQ(terms.cells[0].cells().size(), 1u + 2 + 1 + 1 + 1);
  EXPECT_EQ(terms.cells[0].cells()[4].height, 3u);  // six pairs, and none
}

void expect_refused(std::string text, const std::string& key, const std::string& what) {
  const auto charter = parsed(text);
  const auto terms = charter ? vertical_terms(*charter) : Result<VerticalTerms>(charter.error());
  ASSERT_FALSE(terms) << what;
  EXPECT_NE(terms.error().where.key.find(key), std::string::npos) << describe(terms.error());
  const std::string said = terms.error().what + terms.error().hint;
  EXPECT_NE(said.find(what), std::string::npos) << said;
}

std::string with(std::string text, const std::string& old, const std::string& now) {
  const size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), now);
}

TEST(CellTerms, WhatIsNotThereIsRefusedByName) {
  const std::string text = test::cells_charter(1, 1000);
  const std::string noisy = "rule = \"noisy_sharing\"\ndealer = \"none\"\nrounds = 2\nstep = 1.0\n";
  expect_refused(test::cells_charter(1, 1000, noisy), "protocol.dealer",
                 "rules statistics and gradients");
  const std::string rounds = "rule = \"gradients\"\nrounds = 2\nstep = 1.0\n";
  expect_refused(test::cells_charter(1, 1000, rounds + "model_ball = 4.0\n"), "protocol.model_ball",
                 "model.box bounds the model");
  expect_refused(test::cells_charter(1, 1000, rounds + "colluders = 2\n"), "protocol.colluders",
                 "nobody is left");
  expect_refused(
      with(test::cells_charter(1, 1000, rounds + "model_bits = 4\n"), "box = 4.0", "box = 1000.0"),
      "protocol.model_bits", "a label is 0 of them");
  expect_refused(with(text, "[privacy]\n", "[privacy]\nmax_row_norm = 1.0\n"),
                 "privacy.max_row_norm", "follows from the columns' cells");
  expect_refused(with(text, "columns = [\"job\"", "max_row_norm = 1.0\ncolumns = [\"job\""),
                 "max_row_norm", "follows from the columns' cells");
  expect_refused(with(text, "other = true\n", ""), "column", "1 levels");
  expect_refused(with(text, "other = true\n", "other = true\nencode = \"integer\"\n"), "column",
                 "without a dealer");
  expect_refused(with(test::cells_charter(1, 1000000000), "delta = 1e-5", "delta = 1e-12"),
                 "records.count", "GB before anything");
}

TEST(CellTerms, AnOwnerMayPassOnTheLettersWhereNobodyDeals) {
  const auto office = [](const std::string& text) {
    return parsed(with(text, "name = \"office\"", "name = \"agency-1\""));
  };
  for (const std::string& text :
       {test::cells_charter(1, 1000), test::three_cells_charter(1, 1000)}) {
    const auto charter = office(text);
    ASSERT_TRUE(charter) << describe(charter.error());
    EXPECT_TRUE(vertical_terms(*charter));
    EXPECT_NE(explain(*charter).find("agency-1, an owner, also passes on"), std::string::npos);
  }
  const std::string three = explain(*office(test::three_cells_charter(1, 1000)));
  EXPECT_NE(three.find("agency-1 also how the others' lists overlap"), std::string::npos) << three;
}

TEST(CellTerms, ProductsThatAreNoneAreRefusedByName) {
  const std::string text = test::products_charter(1, 1000), of = "product_of = [\"job\", \"sex\"]";
  expect_refused(with(text, of, "product_of = [\"job\", \"age\"]"), "column[5].product_of",
                 "which is no one_hot category");
  expect_refused(with(text, of, "product_of = [\"job\"]"), "column[5].product_of", "found 1");
  expect_refused(with(text, of, "product_of = [\"job\", \"height\"]"), "column[5].product_of",
                 "which no block before it describes");
  expect_refused(with(text, of, "product_of = [\"job\", \"home\"]"), "column[5].product_of",
                 "a column of \"agency-2\"");
  expect_refused(with(text, of, of + "\nstrip = \"+\""), "column[5].strip", "no meaning");
  expect_refused(with(text, of, of + "\nother = true"), "column[5].other", "unknown key");
  std::string dealt =
      with(text, "name = \"sharing\"\n", "name = \"sharing\"\ndealer = \"learner\"\n");
  dealt = with(with(dealt, "bits = 6\n", ""), "bits = 5\n", "");
  expect_refused(dealt, "column[5].product_of", "without a dealer");
}

/// What a charter said before there were products it says still.
TEST(CellTerms, WithoutProductsTheTextOfACharterIsAsItWas) {
  EXPECT_EQ(to_hex(parsed(test::cells_charter(1, 1000))->hash),
            "b4a7ce2a3fc3e7516700cdcd1ced86f5632d9a9c5b667eef7a145d92f8256f4d");
  const auto with_products = parsed(test::products_charter(1, 1000));
  EXPECT_NE(with_products->canonical.find("\"product_of\":[\"job\",\"sex\"]"), std::string::npos);
  EXPECT_EQ(with_products->canonical.find("f*"), std::string::npos) << "pairs follow";
}

TEST(CellTerms, ADealerHasNoTextOfItsOwn) {
  const auto none = parsed(test::cells_charter(1, 1000));
  EXPECT_NE(none->canonical.find("\"dealer\":\"none\""), std::string::npos) << none->canonical;
  EXPECT_NE(none->canonical.find("\"rule\":\"statistics\""), std::string::npos);
  EXPECT_EQ(none->canonical,
            parsed(test::cells_charter(1, 1000, "dealer = \"none\"\n"))->canonical);
}

}  // namespace vertical_terms_test
}  // namespace parley::plan
