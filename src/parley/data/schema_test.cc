#include "parley/data/schema.h"

#include <gtest/gtest.h>

#include "parley/data/sources/table.h"

namespace parley::data {
namespace schema_test {

Column category(const std::string& name, std::vector<std::string> levels, bool other = false) {
  return {
      .name = name, .kind = Column::Kind::kCategory, .levels = std::move(levels), .other = other};
}

Schema with_product(bool other_job, bool other_home) {
  Schema schema;
  schema.columns = {category("job", {"clerk", "nurse"}, other_job),
                    {.name = "age", .high = 99},
                    category("home", {"own", "rent"}, other_home)};
  Column product{.name = "both", .kind = Column::Kind::kCategory, .product_of = {"job", "home"}};
  EXPECT_EQ(make_product(schema.columns, product), "");
  schema.columns.push_back(product);
  schema.bias = true;
  return schema;
}

/// The features of one record; the table has no column of the product's name.
std::vector<double> features_of(const Schema& schema, const std::string& job,
                                const std::string& home) {
  const Table table{{{"home", std::vector<std::string>{home}},
                     {"age", std::vector<double>{50}},
                     {"job", std::vector<std::string>{job}}}};
  const auto read = read_table(table, schema, {}, false);
  EXPECT_TRUE(read) << (read ? "" : describe(read.error()));
  const auto row = read->rows.row(0);
  EXPECT_EQ(read->counts.columns.at(3).replaced, 0u) << "its factors are counted";
  return {row.begin(), row.end()};
}

TEST(Products, AreOneOfAllPairsWithTheSecondFactorFastest) {
  const Schema schema = with_product(false, false);
  EXPECT_EQ(schema.features(),
            (std::vector<std::string>{"job=clerk", "job=nurse", "age", "home=own", "home=rent",
                                      "both=clerk*own", "both=clerk*rent", "both=nurse*own",
                                      "both=nurse*rent", "bias"}));
  EXPECT_EQ(features_of(schema, "nurse", "own"),
            (std::vector<double>{0, 1, 50, 1, 0, 0, 0, 1, 0, 1}));
  EXPECT_EQ(features_of(schema, " clerk ", "rent"),
            (std::vector<double>{1, 0, 50, 0, 1, 0, 1, 0, 0, 1}));
}

TEST(Products, HaveNoLevelWhereAValueIsMissing) {
  const Schema none = with_product(false, false);
  EXPECT_EQ(features_of(none, "", "own"), (std::vector<double>{0, 0, 50, 1, 0, 0, 0, 0, 0, 1}));
  const Schema one = with_product(true, false);
  EXPECT_EQ(one.columns[3].level_count(), 6u);
  EXPECT_FALSE(one.columns[3].other);
  EXPECT_EQ(features_of(one, "pilot", "rent"),
            (std::vector<double>{0, 0, 1, 50, 0, 1, 0, 0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(features_of(one, "pilot", "?"),
            (std::vector<double>{0, 0, 1, 50, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
}

TEST(Products, OfTwoColumnsWithAnOtherHaveOneToo) {
  const Schema schema = with_product(true, true);
  EXPECT_TRUE(schema.columns[3].other);
  EXPECT_EQ(schema.columns[3].level_count(), 9u);
  EXPECT_EQ(schema.features()[7 + 8], "both=other");
  const auto row = features_of(schema, "", "");
  EXPECT_EQ(row[7 + 8], 1);
  EXPECT_EQ(features_of(schema, "nurse", "")[7 + 5], 1);
}

TEST(Products, SayWhatIsWrongWithTheirFactors) {
  const Schema schema = with_product(false, false);
  const auto problem = [&](std::vector<std::string> of) {
    Column product{.kind = Column::Kind::kCategory, .product_of = std::move(of)};
    return make_product(schema.columns, product);
  };
  EXPECT_EQ(problem({"job", "home"}), "");
  EXPECT_EQ(problem({"job"}), "needs two columns");
  EXPECT_EQ(problem({"job", "sex"}), "names \"sex\", which no block before it describes");
  EXPECT_EQ(problem({"job", "age"}), "names \"age\", which is no one_hot category");
  EXPECT_EQ(problem({"both", "home"}), "names \"both\", which is no one_hot category");
  EXPECT_EQ(problem({"job", "job"}), "names \"job\" twice");
  Column alike{.kind = Column::Kind::kCategory, .product_of = {"a", "b"}};
  EXPECT_EQ(make_product({category("a", {"x*y", "x"}), category("b", {"z", "y*z"})}, alike),
            "makes two levels of one name");
  std::vector<std::string> many;
  for (int i = 0; i < 65; ++i) many.push_back(std::to_string(i));
  Column large{.kind = Column::Kind::kCategory, .product_of = {"a", "b"}};
  EXPECT_EQ(make_product({category("a", many), category("b", many)}, large),
            "makes more than 4096 levels");
}

}  // namespace schema_test
}  // namespace parley::data
