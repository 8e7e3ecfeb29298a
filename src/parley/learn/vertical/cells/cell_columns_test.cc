#include "parley/learn/vertical/cells/cell_columns.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/entropy.h"

namespace parley::learn {
namespace cell_columns_test {

using data::Column;

data::Schema some_schema() {
  data::Schema schema;
  schema.columns.push_back(
      {.name = "job", .kind = Column::Kind::kCategory, .levels = {"a", "b", "c"}, .cell = 40});
  schema.columns.push_back({.name = "age", .low = 20, .high = 80, .cell = 6});
  schema.columns.push_back({.name = "gain", .low = 0, .high = 1000, .log = true, .cell = 9});
  schema.columns.push_back({.name = "home",
                            .kind = Column::Kind::kCategory,
                            .levels = {"own"},
                            .other = true,
                            .cell = 7});
  schema.target.levels = {"low", "high"};
  schema.bias = true;
  return schema;
}

CellColumns some_cells() {
  return {some_schema(), cell_bits(some_schema()), LabelGrid{.weight = 300}};
}

/// job (3), age, gain, home (2), bias.
IntegerColumns of(const std::array<double, 8>& z, double y) {
  auto rows = std::make_shared<data::Rows>(8);
  rows->add(z, y);
  const CellColumns cells = some_cells();
  return cells.integers(cells.leaves(std::shared_ptr<const data::Rows>(rows)));
}

std::vector<int64_t> dense(const IntegerColumns& columns) {
  std::vector<int64_t> all(columns.rows.columns());
  for (size_t k = 0; k < columns.rows.at(0).size(); ++k)
    all[columns.rows.at(0)[k]] = columns.rows.values(0)[k];
  return all;
}

TEST(CellColumns, TellLevelsByWeightsAndNumbersByTheirBounds) {
  EXPECT_EQ(cell_bits(some_schema()), 8);
  const auto made = of({0, 1, 0, 80, std::log1p(1000.0), 1, 0, 1}, 1);
  EXPECT_EQ(dense(made), (std::vector<int64_t>{0, 40, 0, 31, 255, 7, 0, 256}));
  EXPECT_EQ(made.labels, std::vector<int64_t>{300});
  const auto low = of({0, 0, 1, 20, 0, 0, 1, 1}, -1);
  EXPECT_EQ(dense(low), (std::vector<int64_t>{0, 0, 40, -32, -256, 0, 7, 256}));
  EXPECT_EQ(low.labels, std::vector<int64_t>{-300});
}

TEST(CellColumns, TakeWhateverARecordHolds) {
  // No level is listed: the leaf that adds nothing where there is one, else the first.
  EXPECT_EQ(dense(of({0, 0, 0, 50, std::log1p(1000.0) / 2, 0, 0, 1}, 0)),
            (std::vector<int64_t>{0, 0, 0, 0, 0, 7, 0, 256}));
  const auto beyond = of({1, 0, 0, 1e9, -1e9, 1, 0, 1}, 5);
  EXPECT_EQ(dense(beyond), (std::vector<int64_t>{40, 0, 0, 31, -256, 7, 0, 256}));
  EXPECT_EQ(beyond.labels, std::vector<int64_t>{300});
}

/// The attack by one huge entry cannot be written down: every choice of leaves, also one that no
/// record makes, is a row within the bound.
TEST(CellColumns, NoChoiceOfLeavesIsLongerThanTheBound) {
  const CellColumns cells = some_cells();
  double bound = std::ldexp(1, 2 * 8);
  for (const Column& column : some_schema().columns) bound += largest_square(column);
  EXPECT_EQ(bound, 65536.0 + 1600 + 1024 + 65536 + 49);
  test::SeededEntropy entropy(1, "leaves");
  double longest = 0;
  for (size_t i = 0; i < 20000; ++i) {
    std::vector<uint32_t> leaves;
    for (const Cell& cell : cells.cells())  // Corners are frequent.
      leaves.push_back(entropy.word() % 2 ? 0 : uint32_t(entropy.word() % cell.leaves()));
    const IntegerColumns row = cells.integers(leaves);
    double square = 0;
    for (const int64_t value : row.rows.values(0)) square += double(value) * double(value);
    longest = std::max(longest, square);
    EXPECT_LE(square, bound);
    EXPECT_EQ(std::abs(row.labels[0]), 300);
  }
  EXPECT_EQ(longest, bound);
}

TEST(CellColumns, ALabelIsAtLeastAsLargeAsTheLongestRow) {
  const data::Target classes{.levels = {"low", "high"}}, number{.low = -1, .high = 1};
  EXPECT_EQ(label_grid(classes, 3.2).largest(), 4);
  EXPECT_EQ(label_grid(classes, 4).largest(), 4);
  EXPECT_EQ(label_grid(number, 3.2).largest(), 4);
  EXPECT_EQ(label_grid(number, 4).largest(), 4);
  EXPECT_EQ(label_grid(number, 4.01).largest(), 8);
}

}  // namespace cell_columns_test
}  // namespace parley::learn
