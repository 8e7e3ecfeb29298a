#include "parley/data/readers/csv_signs.h"

#include <gtest/gtest.h>

#include "parley/base/files.h"
#include "support/ledgers.h"

namespace parley::data {
namespace csv_signs_test {

struct Signs : testing::Test {
  const std::filesystem::path file = test::fresh_folder() / "x.csv";

  std::string found(const std::string& text, CsvSigns asked = kFindSigns) {
    EXPECT_TRUE(write_file(file, text));
    const CsvSigns signs = signs_of(file, asked);
    return {signs.separator, signs.decimal};
  }
  bool has_header(std::vector<std::string> names) { return bool(check_header(file, names)); }
};

TEST_F(Signs, AreFoundInTheFirstLines) {
  EXPECT_EQ(found("a,b\n1.5,2\n"), ",.");
  EXPECT_EQ(found("a;b\n1,5;2\n"), ";,");
  EXPECT_EQ(found("a;b\n1.5;2\n"), ";.");
  EXPECT_EQ(found("a\tb\n-1,25\t2\n"), "\t,");
  EXPECT_EQ(found("a|b|c\n1|2|3\n"), "|.");
  EXPECT_EQ(found("a\n1\n"), ",.") << "one column";
  EXPECT_EQ(found("a;b\n\"x, y\";2\n"), ";.") << "a comma inside quotes";
  EXPECT_EQ(found("a;b\n1,234;0.5\n"), ";.") << "thousands beside a point";
  EXPECT_EQ(found("a;b\n1,234;2,345\n"), ";.") << "thousands, for all one can see";
  EXPECT_EQ(found("note, x;b\nfine;2\n"), ";.") << "a comma in the header alone";
}

TEST_F(Signs, WhatIsAskedForStays) {
  EXPECT_EQ(found("a;b\n1,5;2\n", {0, '.'}), ";.");
  EXPECT_EQ(found("a,b\n1,5\n", {';', 0}), ";,") << "one column, and its decimals";
  EXPECT_EQ(found("a;b,c\n1,5;2,0\n", {0, ','}), ";,") << "the decimal sign separates nothing";
  EXPECT_TRUE(write_file(file, "a,b\n1.5,2\n"));
  EXPECT_EQ(signs_that_fit(file, {';', ','}).separator, ',') << "drawn beside ; files";
  EXPECT_EQ(signs_that_fit(file, {',', '.'}).decimal, '.');
  EXPECT_EQ(signs_of("absent.csv", kFindSigns).separator, ',');
}

TEST_F(Signs, ARecordIsNoHeader) {
  EXPECT_TRUE(has_header({"age", "work", "2019"}) == false) << "a third of the names";
  EXPECT_TRUE(has_header({"age", "work", "hours", "income", "2019"}));
  EXPECT_FALSE(has_header({"39", "State-gov", "77516", "Bachelors", "13", "<=50K"}));
  EXPECT_FALSE(has_header({"-1 3:1 11:1 14:1"}));
  EXPECT_FALSE(has_header({"+1 3:0.5"}));
  EXPECT_TRUE(has_header({"time 12:30"})) << "a name, not a label";
}

}  // namespace csv_signs_test
}  // namespace parley::data
