#include "parley/data/readers/csv_split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <sstream>

#include "parley/base/files.h"
#include "support/ledgers.h"

namespace parley::data {
namespace csv_split_test {

struct SplitFile : testing::Test {
  const std::filesystem::path folder = test::fresh_folder();

  std::vector<CsvPart> parts(std::vector<double> shares) {
    std::vector<CsvPart> result;
    for (double share : shares)
      result.push_back({.file = folder / (std::to_string(result.size()) + ".csv"), .share = share});
    return result;
  }
  Result<std::vector<CsvPart>> split(const std::string& text, const CsvSplit& options,
                                     std::vector<double> shares) {
    EXPECT_TRUE(write_file(folder / "whole", text));
    return split_csv(folder / "whole", options, parts(shares));
  }
  std::string text(int part) { return *read_file(folder / (std::to_string(part) + ".csv")); }
};

TEST_F(SplitFile, ConsecutivePartsPutTogetherAreTheWhole) {
  std::string whole = "a,b\r\n";
  for (int i = 0; i < 1000; ++i)
    whole += std::to_string(i) + ",\"x, \"\"" + std::to_string(i) + "\"\"\ny\"\r\n";
  const auto found = split(whole, {}, {2, 1, 1});
  ASSERT_TRUE(found) << describe(found.error());
  EXPECT_EQ((*found)[0].rows, 500u);
  std::string together = "a,b\r\n";
  for (int part : {0, 1, 2}) {
    ASSERT_TRUE(text(part).starts_with("a,b\r\n"));
    together += text(part).substr(5);
  }
  // The quotes come back where they are needed; the \r of the last field moves inside them.
  EXPECT_EQ(together.size(), whole.size());
  EXPECT_EQ(std::count(together.begin(), together.end(), '"'),
            std::count(whole.begin(), whole.end(), '"'));
}

TEST_F(SplitFile, RowsOfOneGroupStayTogetherAndPartsAreBalanced) {
  std::string whole = "hospital,x\n";
  for (int i = 0; i < 6000; ++i)
    whole += "h" + std::to_string(i * i % 97) + "," + std::to_string(i) + "\n";
  const auto found = split(whole, {.by = "hospital"}, {1, 1, 2});
  ASSERT_TRUE(found) << describe(found.error());
  std::set<std::string> seen;
  for (int part : {0, 1, 2}) {
    std::set<std::string> here;
    const std::string lines = text(part);
    for (size_t at = lines.find('\n') + 1; at < lines.size(); at = lines.find('\n', at) + 1)
      here.insert(lines.substr(at, lines.find(',', at) - at));
    for (const std::string& group : here) EXPECT_TRUE(seen.insert(group).second) << group;
    EXPECT_NEAR(double((*found)[part].rows), part == 2 ? 3000 : 1500, 150);
  }
  EXPECT_EQ((*found)[0].rows + (*found)[1].rows + (*found)[2].rows, 6000u);
}

// Counts of 10000 rows have a deviation of at most 50; six of them are 300.
TEST_F(SplitFile, RandomPartsHaveTheirSharesAndRepeatThemselves) {
  std::string whole = "x\n";
  for (int i = 0; i < 10000; ++i) whole += std::to_string(i) + "\n";
  const auto found = split(whole, {.random_seed = 3}, {3, 1});
  ASSERT_TRUE(found);
  EXPECT_NEAR(double((*found)[0].rows), 7500, 300);
  const std::string before = text(1);
  ASSERT_TRUE(split(whole, {.random_seed = 3}, {3, 1}));
  EXPECT_EQ(text(1), before);
  ASSERT_TRUE(split(whole, {.random_seed = 4}, {3, 1}));
  EXPECT_NE(text(1), before);
}

// A sorted file would otherwise leave its order, and with it labels, in the parts.
TEST_F(SplitFile, RandomPartsAreInRandomOrderAndLoseNoRow) {
  std::string whole = "x\n";
  for (int i = 0; i < 1000; ++i) whole += std::to_string(i) + "\n";
  ASSERT_TRUE(split(whole, {.random_seed = 3}, {1, 1}));
  std::vector<int> rows;
  int rising = 0;
  for (const int part : {0, 1}) {
    std::istringstream lines(text(part));
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, "x");
    for (int last = -1; std::getline(lines, line); last = rows.back())
      rows.push_back(std::stoi(line)), rising += rows.back() > last;
  }
  EXPECT_NEAR(rising, 500, 80);  // of 1,000 neighbours half, up to five standard deviations
  std::sort(rows.begin(), rows.end());
  ASSERT_EQ(rows.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(rows[i], i);
}

TEST_F(SplitFile, ImpossibleRequestsLeaveNoFile) {
  EXPECT_EQ(split("a,b\n1,2\n", {.by = "c"}, {1, 1}).error().where.key, "c");
  EXPECT_FALSE(split("a,b\n1,2\n", {}, {1, -1}));
  EXPECT_FALSE(split("a,b\n1,2\n", {}, {}));
  EXPECT_EQ(split("a,b\n1,2\n3\n", {}, {1, 1}).error().where.line, 3);
  EXPECT_FALSE(std::filesystem::exists(folder / "0.csv"));
}

}  // namespace csv_split_test
}  // namespace parley::data
