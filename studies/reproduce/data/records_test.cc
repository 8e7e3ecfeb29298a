#include "studies/reproduce/data/records.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "parley/base/files.h"
#include "parley/learn/solver/moments.h"
#include "studies/reproduce/data/files.h"
#include "studies/reproduce/registry.h"

namespace parley::reproduce {
namespace records_test {

std::filesystem::path folder_of(const std::string& name) {
  const std::filesystem::path folder = testing::TempDir() + "records_" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

TEST(Records, SizesOfTheGridThatFitAreKeptAndTheLargestPossibleIsAdded) {
  const std::vector<uint64_t> grid = {10, 30, 100};
  EXPECT_EQ(sizes_within(grid, 3, 300), grid);
  EXPECT_EQ(sizes_within(grid, 3, 1000), grid);
  EXPECT_EQ(sizes_within(grid, 3, 96), (std::vector<uint64_t>{10, 30}));
  EXPECT_EQ(sizes_within(grid, 3, 120), (std::vector<uint64_t>{10, 30, 40}));
  EXPECT_EQ(sizes_within(grid, 3, 21), (std::vector<uint64_t>{7}));
}

TEST(Records, LendingIsWhitenedOnItsPilotAndMadeOnce) {
  Study study;
  const SharedRecords records = *lending_records(study, 3000, Drift::kWhole);
  EXPECT_EQ(records->rows.size(), 3000u);
  learn::Moments moments(10);
  moments.add(records->pilot, 1);
  for (size_t i = 0; i < 10; ++i)
    for (size_t j = 0; j < 10; ++j) EXPECT_NEAR(moments.product(i, j), i == j, 2e-4);
  EXPECT_EQ(*lending_records(study, 3000, Drift::kWhole), records);
  EXPECT_NE(*lending_records(study, 3000, Drift::kNone), records);
}

TEST(Records, DoNotDependOnThreads) {
  Study one, three;
  three.threads = 3;
  const SharedRecords a = *credit_records(one, 50'000), b = *credit_records(three, 50'000);
  for (size_t i = 0; i < a->rows.size(); i += 997) {
    EXPECT_TRUE(std::ranges::equal(a->rows.row(i), b->rows.row(i)));
    EXPECT_EQ(a->rows.label(i), b->rows.label(i));
    EXPECT_EQ(a->rows.row(i).back(), 1) << "the constant feature";
  }
}

TEST(PaperFiles, SaysWhatTheFolderLacks) {
  const auto folder = folder_of("empty");
  for (const char* data : {"lending", "credit", "hospital"}) {
    const auto found = find_file(folder, data);
    ASSERT_FALSE(found);
    EXPECT_NE(found.error().what.find(data), std::string::npos);
    for (const FileMap& map : file_maps())
      EXPECT_EQ(found.error().what.find(map.file) != std::string::npos, map.data == data);
  }
}

TEST(PaperFiles, NamesEveryColumnThatIsMissing) {
  const auto folder = folder_of("columns");
  std::filesystem::create_directories(folder / "below");
  ASSERT_TRUE(write_file(folder / "below/creditcard.csv", "V1,V3,Amount\n1,2,3\n"));
  const auto read = read_columns(*find_file(folder, "credit"));
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().what.find("'V2', 'V4', 'V5'"), std::string::npos) << read.error().what;
  EXPECT_NE(read.error().what.find("'Class'"), std::string::npos);
  EXPECT_EQ(read.error().what.find("'V1'"), std::string::npos);
  EXPECT_NE(read.error().where.file.find("creditcard.csv"), std::string::npos);
}

/// A Lending Club file with every column that its map names; `values` override "1".
std::string loans(const std::vector<std::map<std::string, std::string>>& rows) {
  const FileMap& map = file_maps()[0];
  std::string text;
  for (const MappedColumn& column : map.columns) text += column.name + ",";
  text += map.target.name + "\n";
  for (auto row : rows) {
    for (const MappedColumn& column : map.columns)
      text += (row.contains(column.name) ? row[column.name] : "1") + ",";
    text += row[map.target.name] + "\n";
  }
  return text;
}

TEST(PaperFiles, ReadsTheOddTextsOfLendingClub) {
  const auto folder = folder_of("loans");
  const std::string text = loans(
      {{{"term", " 36 months"}, {"grade", "C"}, {"revol_util", "83.70%"}, {"int_rate", "10.65%"}},
       {{"term", ""}, {"int_rate", ""}},
       {{"term", " 60 months"}, {"grade", "A"}, {"emp_length", "10+ years"}, {"int_rate", "5.5"}},
       {{"emp_length", "n/a"}, {"grade", "B"}, {"annual_inc", "\"1,000\""}, {"int_rate", "7"}}});
  ASSERT_TRUE(write_file(folder / "loan.csv", text));
  const FoundFile file = *find_file(folder, "lending");
  const Columns columns = *read_columns(file);
  EXPECT_EQ(columns.target, (std::vector<double>{10.65, 5.5, 7})) << "no rate, no record";
  const auto value = [&](size_t row, const std::string& name) {
    size_t j = 0;
    while (file.map->columns[j].name != name) ++j;
    return columns.values[row * columns.columns + j];
  };
  EXPECT_EQ(value(0, "term"), 36);
  EXPECT_EQ(value(1, "term"), 60);
  EXPECT_EQ(value(0, "revol_util"), 83.7);
  EXPECT_EQ(value(1, "emp_length"), 10);
  EXPECT_TRUE(std::isnan(value(2, "emp_length")));
  EXPECT_DOUBLE_EQ(value(2, "annual_inc"), std::log1p(1000.));
  EXPECT_EQ(value(0, "grade"), 2) << "in the order of the alphabet, not of the file";
  EXPECT_EQ(value(1, "grade"), 0);
}

TEST(PaperFiles, EveryColumnIsInTheReference) {
  const std::string source = std::getenv("PARLEY_SOURCE");
  const std::string reference = *read_file(source + "/docs/reference/reproduce.md");
  for (const FileMap& map : file_maps()) {
    EXPECT_NE(reference.find("`" + map.file + "`"), std::string::npos) << map.file;
    for (const MappedColumn& column : map.columns) {
      const bool listed = reference.find("`" + column.name + "`") != std::string::npos;
      EXPECT_TRUE(listed || column.name.starts_with('V')) << column.name;  // V1 … V28
    }
    const bool is_table = !map.columns.empty();  // LIBSVM files name no columns.
    EXPECT_EQ(is_table, reference.find("target `" + map.target.name + "`") != std::string::npos);
  }
}

TEST(Records, AFileIsItsPapersOwnAndAnExcerptForAPaperWithoutExperiments) {
  Study study;
  study.data = folder_of("census");
  ASSERT_TRUE(write_file(study.data / "a9a", "+1 1:1\n"));
  const auto kind = [&](std::string_view id) {
    return *kind_of(*std::ranges::find(entries(), id, &Entry::id), study);
  };
  EXPECT_EQ(kind("V-F1"), DataKind::kPapers);
  for (const char* id : {"H-L2", "H-T4", "H-K"}) EXPECT_EQ(kind(id), DataKind::kExcerpt) << id;
  EXPECT_EQ(kind("H-T1"), DataKind::kNone);
  EXPECT_EQ(kind("V-F2"), DataKind::kStandin) << "digits may be missing";
}

TEST(RealDataRecords, ExcerptsOfAllThreeAreRead) {
  const char* folder = std::getenv("PARLEY_DATA");
  if (!folder) GTEST_SKIP() << "PARLEY_DATA is unset";
  Study study;
  study.data = folder;
  const SharedRecords lending = *lending_records(study, 0, Drift::kNone);
  EXPECT_EQ(lending->rows.size(), 114'794u);
  EXPECT_EQ(lending->pilot.size(), 10'000u);
  const SharedRecords credit = *credit_records(study, 0);
  EXPECT_EQ(credit->rows.size() + credit->pilot.size(), 28'266u);
  EXPECT_EQ(credit->rows.columns(), 30u);
  const SharedRecords hospital = *hospital_records(study);
  EXPECT_EQ(hospital->names.size(), 104u);
  EXPECT_EQ(hospital->rows.columns(), 10u);
  for (const char* data : {"lending", "credit", "hospital"})
    EXPECT_TRUE(find_file(folder, data)->map->excerpt);
}

}  // namespace records_test
}  // namespace parley::reproduce
