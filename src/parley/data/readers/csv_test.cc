#include "parley/data/readers/csv.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zstd.h>

#include <cmath>
#include <fstream>
#include <random>
#include <string>

#include "parley/base/math/number.h"
#include "parley/base/math/portable.h"
#include "parley/data/readers/csv_records.h"

namespace parley::data {
namespace csv_test {

using std::string_literals::operator""s;

Column number(std::string name, double low, double high, double missing = 0) {
  return {.name = std::move(name), .low = low, .high = high, .missing = missing};
}

Column category(std::string name, std::vector<std::string> levels, bool other,
                Column::Encode encode = Column::Encode::kOneHot) {
  return {.name = std::move(name),
          .kind = Column::Kind::kCategory,
          .levels = std::move(levels),
          .other = other,
          .encode = encode};
}

/// Features a and b, target y = value / 10.
Schema two_numbers() {
  return {.columns = {number("a", -100, 100, 7), number("b", -1e300, 1e300, -7)},
          .target = {.column = "y", .low = -50, .high = 50, .center = 0, .scale = 10}};
}

struct CsvTest : testing::Test {
  Result<CountedRows> read(std::string_view text, const Schema& schema, CsvOptions options = {}) {
    std::ofstream(file, std::ios::binary) << text;
    return read_csv_counted(file, schema, options);
  }
  std::vector<double> row(const CountedRows& read, size_t i) {
    return {read.rows.row(i).begin(), read.rows.row(i).end()};
  }
  void TearDown() override { std::filesystem::remove(file); }

  const std::filesystem::path file = testing::TempDir() + "csv_test_" +
                                     testing::UnitTest::GetInstance()->current_test_info()->name() +
                                     ".csv";
};

using Row = std::vector<double>;

TEST(Schema, NamesOneFeaturePerNumberIntegerCategoryAndLevel) {
  const Schema schema{
      .columns = {number("amount", 0, 1),
                  category("term", {"36", "60"}, true, Column::Encode::kInteger),
                  category("home", {"RENT", "OWN"}, true), category("state", {"CA"}, false)},
      .target = {},
      .bias = true};
  EXPECT_EQ(schema.features(), (std::vector<std::string>{"amount", "term", "home=RENT", "home=OWN",
                                                         "home=other", "state=CA", "bias"}));
}

TEST_F(CsvTest, FindsColumnsByNameInAnyOrderAndIgnoresOthers) {
  const auto read = this->read("y,extra,b,a\n20,hello,1.5,-3\n-10,,2,4\n", two_numbers());
  ASSERT_TRUE(read);
  ASSERT_EQ(read->rows.size(), 2u);
  EXPECT_EQ(row(*read, 0), (Row{-3, 1.5}));
  EXPECT_EQ(row(*read, 1), (Row{4, 2}));
  EXPECT_EQ(read->rows.label(0), 2);
  EXPECT_EQ(read->rows.label(1), -1);
  EXPECT_EQ(read->counts.rows, 2u);
  EXPECT_EQ(read->counts.out_of_bounds() + read->counts.replaced(), 0u);
}

TEST_F(CsvTest, ReadsTheSameRecordsInEveryManner) {
  const std::string manners[] = {
      "a,b,y\n1,2,3\n4,5,6\n",
      "a,b,y\n1,2,3\n4,5,6",                    // no last line end
      "a,b,y\r\n1,2,3\r\n4,5,6\r\n",            // CRLF
      "a,b,y\r\n1,2,3\r\n4,5,6\r\n\r\n  \n\n",  // blank lines at the end
      "\xEF\xBB\xBF\"a\",b,y\n1,2,3\n4,5,6\n",  // byte order mark
      "\"a\",\" b \",\"y\"\r\n\"1\",\"2\",\"3\"\r\n4,\" 5\",6 \r\n",
      "t,a,b,y\n\"x,\"\"\n,\",1,2,3\n\"\n\n\",4,5,6\n",  // separators, quotes, line ends in quotes
      "t,a,b,y\nx\"y\"z,1,2,3\n\"x\"y\"z\",4,5,6\n",     // stray quotes are ordinary text
  };
  for (const std::string& text : manners) {
    const auto read = this->read(text, two_numbers());
    ASSERT_TRUE(read) << text << describe(read.error());
    ASSERT_EQ(read->rows.size(), 2u) << text;
    EXPECT_EQ(row(*read, 0), (Row{1, 2})) << text;
    EXPECT_EQ(row(*read, 1), (Row{4, 5})) << text;
    EXPECT_EQ(read->rows.label(1), .6) << text;
    EXPECT_EQ(read->counts.replaced(), 0u) << text;
  }
}

TEST_F(CsvTest, UnderstandsNumbersAsPeopleWriteThem) {
  Schema schema = two_numbers();
  schema.columns[1].strip = "$months";
  const std::pair<std::string, double> texts[] = {{"12", 12},
                                                  {"+12", 12},
                                                  {"-1.5e3", -1500},
                                                  {"13.5%", 13.5},
                                                  {" 13.5 % ", 13.5},
                                                  {"\"1,234,567.25\"", 1234567.25},
                                                  {"1 234.5", 1234.5},
                                                  {"1'234.5", 1234.5},
                                                  {"1\xC2\xA0"
                                                   "234",
                                                   1234},
                                                  {"1\xE2\x80\xAF"
                                                   "234",
                                                   1234},
                                                  {"$ 99", 99},
                                                  {" 36 months", 36}};
  for (const auto& [text, value] : texts) {
    const auto read = this->read("a,b,y\n0," + text + ",0\n", schema);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(row(*read, 0)[1], value) << text;
    EXPECT_EQ(read->counts.replaced(), 0u) << text;
  }
}

TEST_F(CsvTest, ReadsDecimalCommas) {
  const auto read = this->read("a;b;y\n1,5;1.234.567,25;2,5\n", two_numbers(),
                               {.separator = ';', .decimal = ','});
  ASSERT_TRUE(read);
  EXPECT_EQ(row(*read, 0), (Row{1.5, 1234567.25}));
  EXPECT_EQ(read->rows.label(0), .25);
}

TEST_F(CsvTest, MovesNumbersToTheNearestBoundSilently) {
  const auto read = this->read("a,b,y\n101,0,51\n-1e99,0,-1e99\n100,0,50\n", two_numbers());
  ASSERT_TRUE(read);
  EXPECT_EQ(row(*read, 0)[0], 100);
  EXPECT_EQ(row(*read, 1)[0], -100);
  EXPECT_EQ(read->rows.label(0), 5);
  EXPECT_EQ(read->rows.label(1), -5);
  EXPECT_EQ(read->counts.out_of_bounds(), 4u);
}

TEST_F(CsvTest, ReplacesWhatIsNoNumberByThePublicConstant) {
  for (const std::string text : {"", " ", "NA", "nan", "inf", "-inf", "1e999", "1.2.3", "0x10",
                                 "--1", "+-1", "\"\"", "\xFF\xFE", "1e", "%"}) {
    const auto read = this->read("a,b,y\n" + text + ",3," + text + "\n", two_numbers());
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(row(*read, 0), (Row{7, 3})) << text;
    EXPECT_EQ(read->rows.label(0), 0) << text;
    EXPECT_EQ(read->counts.replaced(), 2u) << text;
  }
}

TEST_F(CsvTest, TakesTheLogarithmAfterTheBoundsAndOfTheMissingValue) {
  Schema schema = two_numbers();
  schema.columns[0].log = true;
  schema.columns[0].low = 0;
  const auto read = this->read("a,b,y\n3,0,0\n-5,0,0\n,0,0\n1e9,0,0\n", schema);
  ASSERT_TRUE(read);
  const double expected[] = {portable_log1p(3), 0, portable_log1p(7), portable_log1p(100)};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(row(*read, i)[0], expected[i]);
}

TEST_F(CsvTest, EncodesCategories) {
  Schema schema{
      .columns = {category("home", {"RENT", " OWN "}, true), category("kind", {"x"}, false),
                  category("term", {"36 months", "60 months"}, false, Column::Encode::kInteger),
                  category("size", {"S", "M"}, true, Column::Encode::kInteger)},
      .target = {.column = "y", .low = -1, .high = 1},
      .bias = true};
  const auto read = this->read(
      "home,kind,term,size,y\n"
      " RENT,x, 60 months ,M,1\n"
      "OWN,\"x\",36 months,S,1\n"
      "own,X,12 months,XL,1\n"
      ",,,,1\n",
      schema);
  ASSERT_TRUE(read);
  EXPECT_EQ(row(*read, 0), (Row{1, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(row(*read, 1), (Row{0, 1, 0, 1, 0, 0, 1}));
  EXPECT_EQ(row(*read, 2), (Row{0, 0, 1, 0, 0, 2, 1}));
  EXPECT_EQ(row(*read, 3), (Row{0, 0, 1, 0, 0, 2, 1}));
  EXPECT_EQ(read->counts.replaced(), 4u) << "kind and term have no level `other`";
}

TEST_F(CsvTest, StripsTheSameCharactersFromLevelsAndTexts) {
  Schema schema = two_numbers();
  schema.columns.push_back(category("c", {"<30"}, true));
  schema.columns.back().strip = "<>$";
  const auto read = this->read("a,b,c,y\n0,0,$30,0\n0,0,31,0\n", schema);
  ASSERT_TRUE(read);
  EXPECT_EQ(row(*read, 0)[2], 1);
  EXPECT_EQ(row(*read, 1)[2], 0);
}

TEST_F(CsvTest, ReadsTwoClassesAndTurnsAnUnlistedOneIntoTheZeroRecord) {
  Schema schema = two_numbers();
  schema.bias = true;
  schema.target = {.column = "y", .levels = {"NO", "<30"}};
  const auto read = this->read("a,b,y\n1,2,NO\n3,4, <30 \n5,6,>30\n7,8,\n", schema);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->rows.size(), 4u);
  EXPECT_EQ(read->rows.label(0), -1);
  EXPECT_EQ(read->rows.label(1), 1);
  EXPECT_EQ(row(*read, 1), (Row{3, 4, 1}));
  for (size_t i : {2, 3}) {
    EXPECT_EQ(read->rows.label(i), 0);
    EXPECT_EQ(row(*read, i), (Row{0, 0, 0}));
  }
  EXPECT_EQ(read->counts.replaced(), 2u);
}

TEST_F(CsvTest, NeedsNoTargetForPredictions) {
  EXPECT_FALSE(this->read("a,b\n1,2\n", two_numbers()));
  const auto read = this->read("a,b\n1,2\n", two_numbers(), {.labels = false});
  ASSERT_TRUE(read);
  EXPECT_EQ(row(*read, 0), (Row{1, 2}));
  EXPECT_EQ(read->rows.label(0), 0);
}

TEST_F(CsvTest, ABlankLineIsARecordOnlyInTheMiddleOfOneColumn) {
  const Schema one{.columns = {number("a", 0, 9, 7)}, .target = {}};
  const auto read = this->read("a\n1\n\n2\n\n", one, {.labels = false});
  ASSERT_TRUE(read);
  ASSERT_EQ(read->rows.size(), 3u);
  EXPECT_EQ(row(*read, 1), (Row{7}));
}

TEST_F(CsvTest, AHeaderAloneIsAnEmptyFile) {
  const auto read = this->read("a,b,y", two_numbers());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->rows.size(), 0u);
}

TEST_F(CsvTest, StructuralErrorsSayWhatWhereAndWhatToDo) {
  struct Case {
    std::string text, what;
    int line, column;
    std::string key;
  };
  std::string wide = "a,b,y";
  for (int i = 3; i <= 20000; ++i) wide += ",x";
  const Case cases[] = {
      {"", "empty", 1, 0, ""},
      {"\n\n", "empty", 1, 0, ""},
      {"a,y\n1,2\n", "no such column", 1, 1, "b"},
      {"a;b;y\n1;2;3\n", "no such column", 1, 1, "a"},
      {"\n\na,b,y\n1,2,3\n", "no such column", 1, 1, "a"},
      {"a,b,y,a\n1,2,3,4\n", "twice", 1, 7, "a"},
      {"a,b,y\n1,2,3\n1,2\n", "fields in this record: 2, in the header: 3", 3, 3, ""},
      {"a,b,y\n1,2,3,4,5\n", "record: 5", 2, 7, ""},
      {"a,b,y\n1,2,3\n\n1,2,3\n", "record: 1", 3, 1, ""},
      {"a,b,y\n\"\n\n\",2,3\n1,2\n", "record: 2", 5, 3, ""},
      {"a,b,y\n1,2,3\n1,\"2,3\n1,2,3\n", "never closed", 3, 3, ""},
      {"a,\xFF,b,y\n1,2,3,4\n", "UTF-8", 1, 3, ""},
      {"\xFF\xFE"
       "a\0,\0"s,
       "UTF-8", 1, 1, ""},
      {wide + "\n", "20000 columns", 1, 40001, ""},
      {"a,b,y\n1,2,3\n" + std::string(1 << 20, '1') + ",2,3\n", "longer than 1 MiB", 3, 1, ""},
      {"a,b,y\n1,\"" + std::string(1 << 20, '\n') + "\",3\n", "not closed within 1 MiB", 2, 3, ""},
  };
  for (const Case& c : cases) {
    const auto read = this->read(c.text, two_numbers());
    ASSERT_FALSE(read) << c.what;
    const Error& error = read.error();
    EXPECT_EQ(error.code, Code::kInvalid);
    EXPECT_EQ(exit_status(error.code), 2);
    EXPECT_NE(error.what.find(c.what), std::string::npos) << error.what << " for " << c.what;
    EXPECT_EQ(error.where.file, file.string());
    EXPECT_EQ(error.where.line, c.line) << c.what;
    EXPECT_EQ(error.where.column, c.column) << c.what;
    EXPECT_EQ(error.where.key, c.key);
    EXPECT_FALSE(error.hint.empty());
  }
}

TEST_F(CsvTest, AMissingFileAFolderAndAnImpossibleSeparatorAreErrors) {
  const auto missing = read_csv(file, two_numbers());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::kInvalid);
  EXPECT_EQ(missing.error().where.file, file.string());
  const auto folder = read_csv(testing::TempDir(), two_numbers());
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, Code::kInvalid);
  EXPECT_FALSE(this->read("a,b,y\n", two_numbers(), {.separator = '"'}));
  EXPECT_FALSE(this->read("a,b,y\n", two_numbers(), {.decimal = '7'}));
}

TEST_F(CsvTest, NamesTheColumnsOfAFileWithoutAHeader) {
  const CsvOptions options{.header = {"a", "x", "b", "y"}};
  const auto read = this->read("1, what, 2, 3\n4, , 5, 6\n", two_numbers(), options);
  ASSERT_TRUE(read) << describe(read.error());
  ASSERT_EQ(read->rows.size(), 2u);
  EXPECT_EQ(row(*read, 1), (Row{4, 5}));
  EXPECT_FALSE(this->read("1,2,3\n", two_numbers(), options)) << "another number of fields";
  EXPECT_FALSE(this->read("1,2,3\n", two_numbers(), {.header = {"a", "x", "y"}})) << "no b";
  const auto empty = this->read("", two_numbers(), options);
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->rows.size(), 0u);
}

TEST_F(CsvTest, APackedFileIsTheSameAndACutOneIsAnErrorWithItsLine) {
  std::string text = "a,b,y\n";
  for (int i = 0; i < 40'000; ++i)
    text += std::to_string(i % 91) + "," + std::to_string(i % 7919) + "," + std::to_string(i % 13) +
            "\n";
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
  const auto plain = this->read(text, two_numbers()), same = this->read(packed, two_numbers());
  ASSERT_TRUE(plain && same);
  ASSERT_EQ(same->rows.size(), 40'000u);
  for (size_t i = 0; i < 40'000; ++i) ASSERT_EQ(row(*plain, i), row(*same, i));
  const auto cut = this->read(packed.substr(0, packed.size() - 30), two_numbers());
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, Code::kInvalid);
  EXPECT_NE(cut.error().what.find("cut off"), std::string::npos);
  EXPECT_EQ(cut.error().where.file, file.string());
  EXPECT_GT(cut.error().where.line, 1);
  EXPECT_FALSE(this->read(packed, two_numbers(), {.unpacked_bytes_max = text.size() - 1}));
  EXPECT_TRUE(this->read(packed, two_numbers(), {.unpacked_bytes_max = text.size()}));
}

TEST_F(CsvTest, RenamesFiltersAndCounts) {
  const Selection select{
      .columns = {{"b", "amount"}}, .where = RowFilter{"status", {"draft"}, true}, .rows = 2};
  const auto read = this->read("status,a,amount,y\ndraft,1,2,3\nok,4,5,6\n,7,8,9\n", two_numbers(),
                               {.select = select});
  ASSERT_TRUE(read) << describe(read.error());
  EXPECT_EQ(row(*read, 0), (Row{4, 5}));
  EXPECT_EQ(read->counts.left_out, 1u);
  const auto wrong = this->read("status,a,amount,y\nok,4,5,6\n", two_numbers(), {.select = select});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().where.file, file.string());
  EXPECT_EQ(wrong.error().what, "holds 1 rows, the charter says 2");
}

TEST(CsvRecords, DoNotDependOnHowTheFileIsCutIntoBlocks) {
  const std::string text = "a,\"b\"\"\n,\"\r\n\n \n\"\"x,\"y\"z\n,\n\"last\"";
  std::vector<std::string> whole;
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    std::vector<std::string> fields;
    CsvRecords records(',', [&](const CsvRecord& record) -> Result<void> {
      for (size_t i = 0; i < record.size(); ++i) fields.emplace_back(record[i]);
      fields.push_back("end");
      return {};
    });
    ASSERT_TRUE(records.feed(text.substr(0, cut)));
    ASSERT_TRUE(records.feed(text.substr(cut)));
    ASSERT_TRUE(records.end());
    if (cut == 0) whole = fields;
    EXPECT_EQ(fields, whole) << cut;
  }
  EXPECT_EQ(whole, (std::vector<std::string>{"a", "b\"\n,\r", "end", "", "end", "", "end", "x",
                                             "yz", "end", "", "", "end", "last", "end"}));
}

TEST_F(CsvTest, ALargeFileComesBackBitForBit) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> value(-100, 100);
  std::vector<double> values;
  std::string text = "b,a,y\n";
  const size_t rows = 60'000;  // about 3 MB, many blocks
  for (size_t i = 0; i < rows; ++i) {
    const double a = value(random), b = std::ldexp(value(random), int(random() % 600) - 300);
    values.insert(values.end(), {a, b});
    text += shortest(b) + "," + shortest(a) + "," + shortest(a / 4) + "\n";
  }
  const auto read = this->read(text, two_numbers());
  ASSERT_TRUE(read);
  ASSERT_EQ(read->rows.size(), rows);
  size_t wrong = 0;
  for (size_t i = 0; i < rows; ++i)
    wrong += read->rows.row(i)[0] != values[2 * i] || read->rows.row(i)[1] != values[2 * i + 1] ||
             read->rows.label(i) != values[2 * i] / 4 / 10;
  EXPECT_EQ(wrong, 0u);
}

TEST_F(CsvTest, NothingInsideAFieldCanFail) {
  Schema schema = two_numbers();
  schema.columns.push_back(category("c", {"x", "y"}, false));
  schema.columns[0].log = true;
  std::mt19937_64 random(2);
  const size_t rows = 5000;
  std::string text = "a,b,c,y\n";
  for (size_t i = 0; i < 4 * rows; ++i) {
    text += '"';
    for (size_t length = random() % 12; length > 0; --length) {
      const bool plausible = random() % 2;
      const char c = plausible ? "0123456789.,-+eE%infa "[random() % 22] : char(random() % 256);
      text += c == '"' ? "\"\"" : std::string(1, c);
    }
    text += i % 4 == 3 ? "\"\n" : "\",";
  }
  const auto read = this->read(text, schema);
  ASSERT_TRUE(read) << describe(read.error());
  ASSERT_EQ(read->rows.size(), rows);
  for (size_t i = 0; i < rows; ++i)
    for (double z : read->rows.row(i)) ASSERT_TRUE(std::isfinite(z));
}

TEST_F(CsvTest, NoMutationCrashes) {
  Schema schema = two_numbers();
  schema.columns.push_back(category("c", {"x", "y"}, true));
  const std::string honest =
      "\xEF\xBB\xBF"
      "a,\"b\",c,y\r\n1,2,x,3\r\n\"1,000\",-2.5e3,\"y \"\"q\"\"\",13%\r\n,NA,z,4\r\n\r\n";
  std::mt19937_64 random(3);
  int good = 0, bad = 0;
  for (int run = 0; run < 1000; ++run) {
    std::string text = honest;
    for (size_t edits = 1 + random() % 4; edits > 0; --edits) {
      const size_t at = random() % text.size();
      const char c = random() % 2 ? ",\"\r\n\xEF"
                                    "1."[random() % 7]
                                  : char(random() % 256);
      const int kind = random() % 4;
      if (kind == 0) text[at] = c;
      if (kind == 1) text.insert(at, 1, c);
      if (kind == 2 && text.size() > 1) text.erase(at, 1 + random() % 3);
      if (kind == 3) text.insert(at, text.substr(random() % text.size(), random() % 9));
    }
    const auto read = this->read(text, schema);
    ++(read ? good : bad);
    if (!read) {
      ASSERT_EQ(read.error().code, Code::kInvalid);
    }
  }
  EXPECT_GT(good, 100);
  EXPECT_GT(bad, 100);
}

}  // namespace csv_test
}  // namespace parley::data
