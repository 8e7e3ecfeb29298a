#include "parley/data/sources/table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "parley/data/sources/source.h"

namespace parley::data {
namespace table_test {

Schema schema() {
  Schema schema;
  schema.columns = {
      {.name = "income", .low = 0, .high = 100, .missing = 7},
      {.name = "home", .kind = Column::Kind::kCategory, .levels = {"RENT", "OWN"}, .other = true}};
  schema.target = {.column = "rate", .low = 0, .high = 30};
  return schema;
}

Table table() {
  return {{{"rate", std::vector<double>{12.5, 7.1, 40, 1}},
           {"home", std::vector<std::string>{"RENT", " OWN ", "", "BOAT"}},
           {"income", std::vector<double>{31, 152, std::nan(""), 0.1}}}};
}

TEST(Table, GivesTheSameRowsAsAFile) {
  const auto file = std::filesystem::path(testing::TempDir()) / "table_test.csv";
  std::ofstream(file) << "income,home,rate\n31,RENT,12.5\n152,OWN,7.1\n"
                         ",,40\n0.1,BOAT,1\n";
  const auto from_file = load(source_of(file), schema());
  const auto from_table = load(source_of(table()), schema());
  ASSERT_TRUE(from_file && from_table);
  ASSERT_EQ(from_table->rows.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(from_table->rows.label(i), from_file->rows.label(i));
    for (size_t j = 0; j < from_file->rows.columns(); ++j)
      EXPECT_EQ(from_table->rows.row(i)[j], from_file->rows.row(i)[j]) << i << " " << j;
  }
}

TEST(Table, RefusesColumnsOfDifferentLengths) {
  Table uneven = table();
  std::get<std::vector<double>>(uneven.columns[2].values).pop_back();
  const auto rows = load(source_of(uneven), schema());
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().where.key, "income");
}

TEST(Table, RefusesAMissingColumn) {
  Table short_of_one = table();
  short_of_one.columns.pop_back();
  EXPECT_FALSE(load(source_of(short_of_one), schema()));
}

}  // namespace table_test
}  // namespace parley::data
