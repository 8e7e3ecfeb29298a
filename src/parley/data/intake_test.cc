#include "parley/data/intake.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>

#include "support/texts.h"

namespace parley::data {
namespace intake_test {

using test::one_number;
using test::Texts;

/// Rows of one number column `a` with target `y`, from records of texts.
Result<CountedRows> take(const Texts& header, const std::vector<Texts>& records,
                         const Selection& select) {
  Intake intake(one_number(), select, '.', true);
  TRY(intake.take_header(header,
                         [](size_t i) { return Where{.column = static_cast<int>(i) + 1}; }));
  for (const Texts& record : records)
    intake.add([&](size_t i) { return Cell::of(std::string_view(record[i])); });
  return std::move(intake).finish();
}

std::vector<double> values(const Rows& rows) {
  std::vector<double> all;
  for (size_t i = 0; i < rows.size(); ++i) all.push_back(rows.row(i)[0]);
  return all;
}

TEST(Intake, RenamesColumns) {
  const auto read = take({"other", "amount", "rate"}, {{"9", "1", "2"}},
                         {.columns = {{"a", "amount"}, {"y", "rate"}}});
  ASSERT_TRUE(read) << describe(read.error());
  EXPECT_EQ(values(read->rows), (std::vector<double>{1}));
  EXPECT_EQ(read->rows.label(0), 2);
  const auto missing = take({"a", "y"}, {}, {.columns = {{"a", "amount"}}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().where.key, "amount");
}

TEST(Intake, FiltersBeforeItCounts) {
  const std::vector<Texts> records = {
      {"1", "0", "draft"}, {"2", "0", "final"}, {"3", "0", " draft "}, {"4", "0", ""}};
  const Texts header = {"a", "y", "status"};
  const auto kept = [&](RowFilter filter, uint64_t rows) {
    const auto read = take(header, records, {.where = filter, .rows = rows});
    EXPECT_TRUE(read) << describe(read.error());
    EXPECT_EQ(read->counts.left_out, records.size() - rows);
    return values(read->rows);
  };
  EXPECT_EQ(kept({"status", {"draft"}, true}, 2), (std::vector<double>{2, 4}));
  EXPECT_EQ(kept({"status", {"draft"}, false}, 2), (std::vector<double>{1, 3}));
  EXPECT_EQ(kept({"status", {"", "draft"}, true}, 1), (std::vector<double>{2}));
  EXPECT_FALSE(take(header, records, {.where = RowFilter{"state", {"x"}}}));
}

TEST(Intake, TakesBlocksAndNames) {
  const std::vector<Texts> records = {
      {"1", "0", "St. Mary's"}, {"2", "0", "ST MARY S"}, {"3", "0", "Wynn"}};
  const auto block = take({"a", "y", "h"}, records, {.block = Block{1, 3}});
  ASSERT_TRUE(block);
  EXPECT_EQ(values(block->rows), (std::vector<double>{2, 3}));
  const RowFilter filter{.column = "h", .values = {"st-mary-s"}, .by_name = true};
  const auto named = take({"a", "y", "h"}, records, {.where = filter});
  ASSERT_TRUE(named);
  EXPECT_EQ(values(named->rows), (std::vector<double>{1, 2}));
  EXPECT_EQ(name_from("  A--b (C) "), "a-b-c");
  EXPECT_EQ(name_from("?!"), "");
}

TEST(Intake, SaysBothNumbersWhenTheRowsAreOthersThanTheCharterSays) {
  const std::vector<Texts> records = {{"1", "0"}, {"2", "0"}};
  EXPECT_TRUE(take({"a", "y"}, records, {.rows = 2}));
  for (uint64_t wrong : {0, 1, 3}) {
    const auto read = take({"a", "y"}, records, {.rows = wrong});
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Code::kInvalid);
    EXPECT_EQ(read.error().what, "holds 2 rows, the charter says " + std::to_string(wrong));
  }
}

TEST(Intake, KeepsTheFirstRecordsOfAUnitAndZeroesTheOthers) {
  const auto read = take({"who", "a", "y"},
                         {{"p", "1", "5"},
                          {"q", "2", "5"},
                          {" p", "3", "5"},
                          {"p", "4", "5"},
                          {"", "5", "5"},
                          {"q", "6", "5"}},
                         {.unit = UnitCap{"who", 2}, .rows = 6});
  ASSERT_TRUE(read);
  EXPECT_EQ(values(read->rows), (std::vector<double>{1, 2, 3, 0, 0, 6}));
  EXPECT_EQ(read->rows.label(3), 0);
  EXPECT_EQ(read->rows.label(4), 0);
  EXPECT_EQ(read->counts.over_cap, 1u);
  EXPECT_EQ(read->counts.without_unit, 1u);
  EXPECT_EQ(read->counts.rows, 6u);
}

TEST(Intake, LargeUnitNumbersStayDifferent) {
  Intake intake(one_number(), {.unit = UnitCap{"who", 1}}, '.', true);
  ASSERT_TRUE(intake.take_header({"who", "a", "y"}, [](size_t) { return Where{}; }));
  const int64_t large = int64_t{1} << 53;
  for (int64_t who : {large, large + 1, large})
    intake.add([&](size_t i) { return Cell::of(i == 0 ? who : int64_t{7}); });
  const auto read = std::move(intake).finish();
  EXPECT_EQ(values(read->rows), (std::vector<double>{7, 7, 0}));
}

/// The promise behind a unit's cap (UnitCap): whatever one unit's records are replaced by, at most
/// 2 x cap contributions differ.
TEST(Intake, ReplacingAllRecordsOfOneUnitMovesAtMostTwiceItsCap) {
  std::mt19937_64 random(1);
  for (int run = 0; run < 300; ++run) {
    const uint64_t cap = 1 + random() % 3, people = 1 + random() % 6;
    std::vector<Texts> one;
    for (size_t n = random() % 40; n > 0; --n)
      one.push_back({"u" + std::to_string(random() % people), std::to_string(random() % 9), "1"});
    std::vector<Texts> other = one;
    const std::string replaced = "u" + std::to_string(random() % people);
    for (Texts& record : other)
      if (record[0] == replaced) record = {"new", std::to_string(10 + random() % 9), "2"};
    const Selection select{.unit = UnitCap{"who", cap}};
    const auto a = take({"who", "a", "y"}, one, select), b = take({"who", "a", "y"}, other, select);
    ASSERT_TRUE(a && b);
    ASSERT_EQ(a->rows.size(), b->rows.size());
    uint64_t gone = 0, come = 0;
    for (size_t i = 0; i < one.size(); ++i) {
      const bool same =
          a->rows.row(i)[0] == b->rows.row(i)[0] && a->rows.label(i) == b->rows.label(i);
      gone += !same && a->rows.label(i) != 0;
      come += !same && b->rows.label(i) != 0;
    }
    EXPECT_LE(gone, cap);
    EXPECT_LE(come, cap);
  }
}

}  // namespace intake_test
}  // namespace parley::data
