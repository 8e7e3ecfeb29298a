#include "parley/data/profile.h"

#include <gtest/gtest.h>

#include "parley/base/files.h"
#include "support/ledgers.h"

namespace parley::data {
namespace profile_test {

using Kind = ColumnProfile::Kind;

struct ProfileFile : testing::Test {
  Profile profile(const std::string& text) {
    EXPECT_TRUE(write_file(file, text));
    const auto found = profile_csv(file);
    EXPECT_TRUE(found) << describe(found.error());
    return *found;
  }
  const std::filesystem::path file = test::fresh_folder() / "some.csv";
};

TEST_F(ProfileFile, CountsKindsBoundsMissingAndDistinctValues) {
  const Profile found = profile(
      "rate,term,note\n"
      "10.5%, 36 months,a\n"
      "\"1,200\", 60 months,NA\n"
      "-3,?,\n"
      "n/a, 36 months,b\n");
  EXPECT_EQ(found.rows, 4u);
  const ColumnProfile& rate = *found.find("rate");
  EXPECT_EQ(rate.kind(), Kind::kNumber);
  EXPECT_EQ(rate.low, -3);
  EXPECT_EQ(rate.high, 1200);
  EXPECT_EQ(rate.quantile(.5), 10.5);
  EXPECT_EQ(rate.missing, 1u);
  const ColumnProfile& term = *found.find("term");
  EXPECT_EQ(term.kind(), Kind::kCategory);
  EXPECT_EQ(term.levels, (std::map<std::string, uint64_t>{{"36 months", 2}, {"60 months", 1}}));
  EXPECT_EQ(found.find("note")->missing, 2u);
  EXPECT_EQ(found.find("absent"), nullptr);
}

TEST_F(ProfileFile, TellsIdentitiesFromMeasurementsAndConstants) {
  std::string text = "id,name,amount,state,same,nothing\n";
  for (int i = 0; i < 200; ++i)
    text += std::to_string(1000 + 7 * i) + ",person " + std::to_string(i) + "," +
            std::to_string(i) + ".25," + std::string(1, char('a' + i % 3)) + ",x,\n";
  const Profile found = profile(text);
  EXPECT_TRUE(found.find("id")->identity());
  EXPECT_TRUE(found.find("name")->identity());
  EXPECT_EQ(found.find("name")->kind(), Kind::kText);
  EXPECT_FALSE(found.find("amount")->identity()) << "measurements may well be unique";
  EXPECT_FALSE(found.find("state")->identity());
  EXPECT_TRUE(found.find("same")->constant());
  EXPECT_EQ(found.find("nothing")->kind(), Kind::kEmpty);
  EXPECT_EQ(found.find("id")->distinct, 200u);
}

TEST_F(ProfileFile, AFewOddTextsDoNotMakeANumberACategory) {
  std::string text = "x,y\n";
  for (int i = 0; i < 100; ++i)
    text += (i < 5 ? "odd," : "1,") + std::string(i < 6 ? "odd" : "1") + "\n";
  const Profile found = profile(text);
  EXPECT_EQ(found.find("x")->kind(), Kind::kNumber);
  EXPECT_EQ(found.find("y")->kind(), Kind::kCategory);
}

TEST_F(ProfileFile, OutlineLooksAtNothingButNamesAndTheNumberOfRows) {
  ASSERT_TRUE(write_file(file, "a, b \n1,2\n3,4\n"));
  const auto outline = outline_csv(file);
  ASSERT_TRUE(outline);
  EXPECT_EQ(outline->names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(outline->rows, 2u);
}

TEST_F(ProfileFile, BadStructureIsAnErrorWithItsPlace) {
  ASSERT_TRUE(write_file(file, "a,b\n1,2\n3\n"));
  const auto found = profile_csv(file);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().where.line, 3);
  EXPECT_EQ(found.error().where.file, file.string());
  EXPECT_FALSE(outline_csv(file / "absent"));
}

}  // namespace profile_test
}  // namespace parley::data
