#include "parley/data/sources/sparse_cells.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "parley/data/sources/source.h"
#include "parley/data/transforms/bounds_bundle.h"

namespace parley::data {
namespace cells_test {

/// Two features and a target.
struct Given final : SparseCells {
  std::vector<std::array<double, 3>> records{};
  std::vector<std::string> columns{"a", "b", "y"};
  std::vector<bool> is_sparse{true, true, false};

  struct Cursor final : CellCursor {
    explicit Cursor(const Given& all) : given(all) {}
    void seek(uint64_t row) override { at_row = row; }
    Cell at(size_t column) override {
      const double value = given.records[at_row][column];
      return std::isnan(value) ? Cell{} : Cell::of(value);
    }
    const Given& given;
    uint64_t at_row = 0;
  };
  const std::vector<std::string>& names() const override { return columns; }
  uint64_t rows() const override { return records.size(); }
  bool sparse(size_t column) const override { return is_sparse[column]; }
  std::unique_ptr<CellCursor> cursor() const override { return std::make_unique<Cursor>(*this); }
};

/// Mostly zeros, with odd ones among them.
Given some_rows() {
  constexpr double kOdd[] = {0,  -0.0, 1e-200, 7, -7, 1, std::numeric_limits<double>::infinity(),
                             NAN};
  std::mt19937_64 random(1);
  Given given;
  for (int i = 0; i < 3000; ++i) {  // several parts
    auto& [a, b, y] = given.records.emplace_back();
    for (double* value : {&a, &b})
      if (random() % 4 == 0) *value = kOdd[random() % std::size(kOdd)];
    y = random() % 20 == 0 ? 5 : double(random() % 2);  // 5: no class, the zero record
  }
  return given;
}

Schema symmetric() {
  Schema schema{
      .columns = {{.name = "a", .low = -2, .high = 2}, {.name = "b", .low = -4, .high = 4}},
      .target = {.column = "y", .levels = {"0", "1"}},
      .bias = true};
  schema.bundle = bounds_bundle(schema);
  return schema;
}

CountedAnyRows loaded(Given given, const Schema& schema, Selection select = {}) {
  Source source = source_of(std::make_shared<const Given>(std::move(given)));
  source.select = std::move(select);
  auto rows = load_any(source, schema);
  EXPECT_TRUE(rows);
  return *std::move(rows);
}

bool stays(Given given, const Schema& schema, Selection select = {}) {
  const auto rows = loaded(std::move(given), schema, std::move(select)).rows;
  return std::holds_alternative<std::shared_ptr<const SparseRows>>(rows);
}

TEST(Cells, SparseOnesHoldTheRecordsOfDenseOnes) {
  const auto sparse = loaded(some_rows(), symmetric(), {.rows = 3000});
  Given whole = some_rows();
  whole.is_sparse = {false, false, false};
  const auto dense = loaded(std::move(whole), symmetric(), {.rows = 3000});
  const auto& rows = *std::get<std::shared_ptr<const SparseRows>>(sparse.rows);
  const auto& same = *std::get<std::shared_ptr<const Rows>>(dense.rows);
  const Rows back = rows.dense();
  ASSERT_EQ(back.size(), same.size());
  for (size_t i = 0; i < same.size(); ++i) {
    ASSERT_EQ(back.label(i), same.label(i)) << i;
    for (size_t j = 0; j < 3; ++j) ASSERT_EQ(back.row(i)[j], same.row(i)[j]) << i << " " << j;
  }
  EXPECT_LT(rows.nonzeros(), 2 * same.size());  // of three features
  EXPECT_EQ(sparse.counts.rows, 3000u);
  EXPECT_EQ(sparse.counts.replaced(), dense.counts.replaced());
  EXPECT_EQ(sparse.counts.out_of_bounds(), dense.counts.out_of_bounds());
}

TEST(Cells, OfAnotherNumberThanTheCharterSaysAreRefused) {
  Source source = source_of(std::make_shared<const Given>(some_rows()));
  source.select.rows = 2999;
  const auto rows = load_any(source, symmetric());
  ASSERT_FALSE(rows);
  EXPECT_NE(rows.error().what.find("holds 3000 rows"), std::string::npos) << rows.error().what;
}

TEST(Cells, StaySparseWhereAZeroIsNoFeature) {
  EXPECT_TRUE(stays(some_rows(), symmetric()));
  Schema plain = symmetric();
  plain.bundle.reset();
  EXPECT_TRUE(stays(some_rows(), plain));
  Schema moved = symmetric();  // From [0, 4] a 0 becomes -1.
  moved.columns[1].low = 0;
  moved.bundle = bounds_bundle(moved);
  EXPECT_FALSE(stays(some_rows(), moved));
  Schema above = plain;  // A 0 becomes the bound.
  above.columns[0].low = 1;
  EXPECT_FALSE(stays(some_rows(), above));
  Given half = some_rows();
  half.is_sparse[0] = false;
  EXPECT_FALSE(stays(half, symmetric()));
  for (const Selection& of_the_whole :
       {Selection{.where = RowFilter{.column = "y", .values = {"1"}}},
        Selection{.block = Block{0, 10}}, Selection{.unit = UnitCap{.column = "b"}},
        Selection{.id = "y"}})
    EXPECT_FALSE(stays(some_rows(), symmetric(), of_the_whole));
  Given renamed = some_rows();
  renamed.columns = {"c", "b", "y"};
  EXPECT_TRUE(stays(renamed, symmetric(), {.columns = {{"a", "c"}}}));
}

}  // namespace cells_test
}  // namespace parley::data
