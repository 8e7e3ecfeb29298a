#include "parley/data/readers/libsvm.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <random>

#include "parley/base/math/number.h"
#include "parley/data/readers/libsvm_lines.h"
#include "parley/data/readers/quick_number.h"
#include "support/texts.h"

namespace parley::data {
namespace libsvm_test {

using Row = std::vector<double>;

struct LibsvmTest : testing::Test {
  Result<CountedRows> read(std::string_view text, const Schema& schema,
                           LibsvmOptions options = {}) {
    std::ofstream(file, std::ios::binary) << text;
    return read_libsvm(file, schema, options);
  }
  /// Reads it as sparse, too, and checks that both are the same.
  CountedRows both(std::string_view text, const Schema& schema) {
    auto dense = read(text, schema);
    const auto sparse = read_libsvm_sparse(file, schema);
    EXPECT_TRUE(dense) << describe(dense.error());
    EXPECT_TRUE(sparse) << describe(sparse.error());
    const Rows from_sparse = sparse->rows.dense();
    EXPECT_EQ(from_sparse.size(), dense->rows.size());
    for (size_t i = 0; i < from_sparse.size(); ++i) {
      EXPECT_EQ(row(from_sparse, i), row(dense->rows, i)) << i;
      EXPECT_EQ(from_sparse.label(i), dense->rows.label(i)) << i;
    }
    EXPECT_EQ(sparse->counts.replaced(), dense->counts.replaced());
    return *std::move(dense);
  }
  static Row row(const Rows& rows, size_t i) { return {rows.row(i).begin(), rows.row(i).end()}; }
  void TearDown() override { std::filesystem::remove(file); }

  const std::filesystem::path file = testing::TempDir() + "libsvm_test_" +
                                     testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(LibsvmTest, ReadsLabelsIndicesAndValues) {
  const auto read = both("+1 1:0.5 3:-2 \n-1\n1 2:1e1\t3:4\r\n-1.0 3:1 # a comment 4:x\n\n# all\n",
                         test::numbers(3));
  ASSERT_EQ(read.rows.size(), 4u);
  EXPECT_EQ(row(read.rows, 0), (Row{.5, 0, -2}));
  EXPECT_EQ(row(read.rows, 1), (Row{0, 0, 0}));
  EXPECT_EQ(row(read.rows, 2), (Row{0, 10, 4}));
  EXPECT_EQ(row(read.rows, 3), (Row{0, 0, 1}));
  const double labels[] = {1, -1, 1, -1};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(read.rows.label(i), labels[i]) << i;
  EXPECT_EQ(read.counts.rows, 4u);
  EXPECT_EQ(read.counts.replaced() + read.counts.ignored, 0u);
}

TEST_F(LibsvmTest, ClassesAreTheListedLevels) {
  Schema schema = test::numbers(1);
  schema.target.levels = {"0", "1"};
  const auto zero_one = both("0 1:1\n1 1:1\n+1 1:1\n2 1:1\n-1 1:1\n", schema);
  EXPECT_EQ(zero_one.rows.label(0), -1);
  EXPECT_EQ(zero_one.rows.label(1), 1);
  EXPECT_EQ(zero_one.rows.label(2), 1);
  EXPECT_EQ(row(zero_one.rows, 3), (Row{0})) << "an unlisted class is the zero record";
  EXPECT_EQ(zero_one.rows.label(3), 0);
  EXPECT_EQ(zero_one.counts.replaced(), 2u);
  schema.target.levels = {"good", "bad"};
  const auto words = both("bad 1:1\ngood 1:1\n", schema);
  EXPECT_EQ(words.rows.label(0), 1);
  EXPECT_EQ(words.rows.label(1), -1);
}

TEST_F(LibsvmTest, ANumberIsATarget) {
  Schema schema = test::numbers(1);
  schema.target = {.column = "y", .low = 0, .high = 10, .center = 5, .scale = 2};
  const auto read = both("7 1:1\n99 1:1\nnan 1:1\n", schema);
  EXPECT_EQ(read.rows.label(0), 1);
  EXPECT_EQ(read.rows.label(1), 2.5);
  EXPECT_EQ(read.rows.label(2), 0);
  EXPECT_EQ(read.counts.out_of_bounds(), 1u);
  EXPECT_EQ(read.counts.replaced(), 1u);
}

TEST_F(LibsvmTest, NothingInsideAValueCanFail) {
  const auto read = both("+1 1:abc 2:200 3:\n+1 1:inf 2:1e-200 3:nan\n", test::numbers(3));
  EXPECT_EQ(row(read.rows, 0), (Row{7, 100, 7}));
  EXPECT_EQ(row(read.rows, 1), (Row{7, 0, 7})) << "tiny values are zero";
  EXPECT_EQ(read.counts.replaced(), 4u);
  EXPECT_EQ(read.counts.out_of_bounds(), 1u);
}

TEST_F(LibsvmTest, TheSchemaSaysHowManyColumnsThereAre) {
  const auto few = both("+1 1:1\n", test::numbers(5));
  EXPECT_EQ(row(few.rows, 0), (Row{1, 0, 0, 0, 0}));
  const auto many = both("+1 1:1 2:2 3:3 9007199254740991:4\n", test::numbers(2));
  EXPECT_EQ(row(many.rows, 0), (Row{1, 2}));
  EXPECT_EQ(many.counts.ignored, 2u);
}

TEST_F(LibsvmTest, AddsTheBias) {
  Schema schema = test::numbers(2);
  schema.bias = true;
  const auto read = both("+1 2:3\nwhat 1:1\n", schema);
  EXPECT_EQ(row(read.rows, 0), (Row{0, 3, 1}));
  EXPECT_EQ(row(read.rows, 1), (Row{0, 0, 0})) << "the zero record has no bias";
}

TEST_F(LibsvmTest, WhatALineLeavesOutIsZeroMovedIntoTheBounds) {
  Schema schema = test::numbers(2);
  schema.columns[0].low = 2;
  const auto dense = read("+1 2:3\n+1 1:5\n", schema);
  ASSERT_TRUE(dense);
  EXPECT_EQ(row(dense->rows, 0), (Row{2, 3}));
  EXPECT_EQ(row(dense->rows, 1), (Row{5, 0}));
  const auto sparse = read_libsvm_sparse(file, schema);
  ASSERT_FALSE(sparse);
  EXPECT_EQ(sparse.error().where.key, "f1");
}

TEST_F(LibsvmTest, StructuralErrorsSayWhatWhereAndWhatToDo) {
  const struct {
    std::string text, what;
    int line, column;
  } cases[] = {
      {"+1 1:1\n+1 x:1\n", "INDEX:VALUE", 2, 4},
      {"+1 1:1 2\n", "INDEX:VALUE", 1, 8},
      {"+1 0:1\n", "INDEX:VALUE", 1, 4},
      {"+1 -1:1\n", "INDEX:VALUE", 1, 4},
      {"+1 qid:3 1:1\n", "INDEX:VALUE", 1, 4},
      {"\n\n+1 2:1 1:1\n", "go up", 3, 8},
      {"+1 2:1 2:1", "go up", 1, 8},
      {"+1 1.5:1", "INDEX:VALUE", 1, 4},
      {"+1 99999999999999999999999:1", "INDEX:VALUE", 1, 4},
      {"+1 1:" + std::string(17 << 20, '1'), "longer than 16 MiB", 1, 1},
  };
  for (const auto& c : cases) {
    const auto read = this->read(c.text, test::numbers(3));
    ASSERT_FALSE(read) << c.what;
    EXPECT_EQ(read.error().code, Code::kInvalid);
    EXPECT_NE(read.error().what.find(c.what), std::string::npos) << read.error().what;
    EXPECT_EQ(read.error().where.file, file.string());
    EXPECT_EQ(read.error().where.line, c.line) << c.text.substr(0, 40);
    EXPECT_EQ(read.error().where.column, c.column) << c.text.substr(0, 40);
    EXPECT_FALSE(read.error().hint.empty());
  }
  Schema schema = test::numbers(1);
  schema.columns[0].kind = Column::Kind::kCategory;
  EXPECT_FALSE(this->read("+1 1:1\n", schema));
}

TEST_F(LibsvmTest, CountsRowsAgainstTheCharter) {
  EXPECT_TRUE(read("+1 1:1\n-1 1:1", test::numbers(1), {.rows = 2}));
  const auto wrong = read("+1 1:1\n-1 1:1\n", test::numbers(1), {.rows = 3});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().what, "holds 2 rows, the charter says 3");
}

TEST_F(LibsvmTest, APackedFileIsTheSameAndACutOneIsAnErrorWithItsLine) {
  std::string text;
  for (int i = 0; i < 50'000; ++i)
    text +=
        (i % 3 ? "+1 " : "-1 ") + std::to_string(1 + i % 50) + ":" + std::to_string(i % 97) + "\n";
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
  const auto plain = read(text, test::numbers(50)), same = read(packed, test::numbers(50));
  ASSERT_TRUE(plain && same);
  ASSERT_EQ(same->rows.size(), 50'000u);
  for (size_t i = 0; i < 50'000; ++i) ASSERT_EQ(row(plain->rows, i), row(same->rows, i));
  const auto cut = read(packed.substr(0, packed.size() - 20), test::numbers(50));
  ASSERT_FALSE(cut);
  EXPECT_NE(cut.error().what.find("cut off"), std::string::npos);
  EXPECT_EQ(cut.error().where.file, file.string());
}

TEST(LibsvmLines, DoNotDependOnHowTheFileIsCutIntoBlocks) {
  const std::string text = "+1 1:2 3:4 # c\n\n-1\n 0 7:.5\r\nx 1:y";
  std::string whole;
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    std::string found;
    LibsvmLines lines([&](const LibsvmLine& line) {
      found += std::string(line.label) + ":";
      for (const auto& entry : line.entries)
        found += std::to_string(entry.index) + "=" +
                 (is_number(entry.value) ? shortest(entry.value) : "?") + ",";
    });
    ASSERT_TRUE(lines.feed(text.substr(0, cut)));
    ASSERT_TRUE(lines.feed(text.substr(cut)));
    ASSERT_TRUE(lines.end());
    if (cut == 0) whole = found;
    EXPECT_EQ(found, whole) << cut;
  }
  EXPECT_EQ(whole, "+1:1=2,3=4,-1:0:7=0.5,x:1=?,");
}

/// 32,561 x 123, 451,592 values that are not zero, 24,720 and 7,841 labels (data/README.md).
TEST(RealDataLibsvm, A9aIsWhatItsDescriptionSays) {
  const char* folder = std::getenv("PARLEY_DATA");
  if (!folder) GTEST_SKIP() << "PARLEY_DATA is unset";
  Schema schema = test::numbers(123);
  const auto train = read_libsvm_sparse(std::string(folder) + "/a9a/a9a.zst", schema);
  ASSERT_TRUE(train) << describe(train.error());
  EXPECT_EQ(train->rows.size(), 32561u);
  EXPECT_EQ(train->rows.columns(), 123u);
  EXPECT_EQ(train->rows.nonzeros(), 451592u);
  EXPECT_EQ(train->counts.replaced() + train->counts.out_of_bounds() + train->counts.ignored, 0u);
  const auto positive = std::count(train->rows.labels(), train->rows.labels() + 32561, 1.0);
  EXPECT_EQ(positive, 7841);
  const auto last = std::count(train->rows.indices(), train->rows.indices() + 451592, 122u);
  EXPECT_EQ(last, 1) << "feature 123 occurs in one row only";
  const auto test = read_libsvm(std::string(folder) + "/a9a/a9a.t.zst", schema, {.rows = 16281});
  ASSERT_TRUE(test) << describe(test.error());
  EXPECT_EQ(test->rows.columns(), 123u);
  EXPECT_EQ(std::count(test->rows.labels(), test->rows.labels() + 16281, 1.0), 3846);
}

}  // namespace libsvm_test
}  // namespace parley::data
