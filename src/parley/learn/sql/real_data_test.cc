// Real tables: the sums that SQLite makes of their first 5,000 rows, or with PARLEY_THOROUGH of
// all, are the kernel's. Left out without PARLEY_DATA.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "parley/data/readers/csv_records.h"
#include "parley/data/readers/quick_number.h"
#include "parley/data/readers/unpack.h"
#include "parley/data/sources/sqlite.h"
#include "parley/data/sql/run.h"
#include "parley/learn/kernel/kernel.h"
#include "parley/learn/sql/select.h"

namespace parley::learn::sql_real_data_test {
namespace {

using Records = std::vector<std::vector<std::string>>;

Records read(const std::filesystem::path& file) {
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(("zstd -dcq " + file.string()).c_str(), "r"),
                                             pclose);
  Records records;
  data::CsvRecords csv(',', [&](const data::CsvRecord& record) -> Result<void> {
    auto& cells = records.emplace_back();
    for (size_t i = 0; i < record.size(); ++i) cells.emplace_back(data::trimmed(record[i]));
    return {};
  });
  char block[65536];
  for (size_t size; (size = fread(block, 1, sizeof block, pipe.get())) > 0;)
    EXPECT_TRUE(csv.feed({block, size}));
  EXPECT_TRUE(csv.end());
  std::erase_if(records, [&](const auto& record) { return record.size() != records[0].size(); });
  return records;
}

/// A column by its first records: numbers with their bounds, or up to six levels and the rest.
data::Column column_of(const Records& records, size_t at) {
  data::Column column{.name = "c" + std::to_string(at)};
  double low = 0, high = 0;
  bool numbers = true;
  for (size_t i = 1; i < std::min<size_t>(records.size(), 2000); ++i) {
    const std::string& cell = records[i][at];
    const double number = data::quick_number(cell);
    if (!cell.empty()) numbers &= data::is_number(number);
    if (data::is_number(number)) low = std::fmin(low, number), high = std::fmax(high, number);
    auto& levels = column.levels;
    if (levels.size() < 6 && !cell.empty() &&
        std::find(levels.begin(), levels.end(), cell) == levels.end())
      levels.push_back(cell);
  }
  if (!numbers) return column.kind = data::Column::Kind::kCategory, column.other = true, column;
  column.levels.clear();
  column.low = low, column.high = high + 1, column.missing = (low + high) / 2;
  column.log = low == 0;
  return column;
}

/// Scaled to about 1 by a bundle's means and scales, as charters do it.
data::Bundle scaled(const data::Schema& schema) {
  data::Bundle bundle;
  bundle.encoded = schema.encoded();
  size_t j = 0;
  for (const data::Column& column : schema.columns) {
    const bool number = column.kind == data::Column::Kind::kNumber;
    const size_t width = number ? 1 : column.levels.size() + column.other;
    for (size_t k = 0; k < width; ++k) {
      bundle.select.push_back(j++);
      bundle.mean.push_back(number ? .3 * column.missing : 0);
      bundle.scale.push_back(number && !column.log ? column.high - column.low : 1);
    }
  }
  return bundle;
}

struct Given {
  const char* file;
  size_t classes;  // the column of two classes; its other levels are zero records
  size_t number;   // a column of numbers, the target of the other losses
};

/// In the test's name.
void PrintTo(const Given& given, std::ostream* out) { *out << given.file; }

class RealDataSql : public testing::TestWithParam<Given> {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("PARLEY_DATA");
    if (!folder) GTEST_SKIP() << "PARLEY_DATA is not set";
    records_ = read(std::filesystem::path(folder) / GetParam().file);
    ASSERT_GT(records_.size(), 5000U);
    if (std::getenv("PARLEY_THOROUGH") == nullptr) records_.resize(5001);  // SQLite is slow.
    file_ =
        std::filesystem::temp_directory_path() / ("parley_sql_real_" + std::to_string(getpid()));
    std::filesystem::remove(file_);
    for (size_t i = 0; i < records_[0].size(); ++i) columns_.push_back(column_of(records_, i));
    import();
  }
  void TearDown() override { std::filesystem::remove(file_); }

  void import() {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(file_.c_str(), &database), SQLITE_OK);
    std::string names, marks;
    for (const data::Column& column : columns_) {
      const bool number = column.kind == data::Column::Kind::kNumber;
      names += (names.empty() ? "" : ",") + column.name + (number ? " real" : " text");
      marks += marks.empty() ? "?" : ",?";
    }
    sqlite3_exec(database, ("create table t(" + names + "); begin").c_str(), nullptr, nullptr,
                 nullptr);
    sqlite3_stmt* insert = nullptr;
    sqlite3_prepare_v2(database, ("insert into t values(" + marks + ")").c_str(), -1, &insert,
                       nullptr);
    for (size_t i = 1; i < records_.size(); ++i) {
      for (size_t j = 0; j < columns_.size(); ++j)
        sqlite3_bind_text(insert, static_cast<int>(j) + 1, records_[i][j].c_str(), -1,
                          SQLITE_TRANSIENT);
      EXPECT_EQ(sqlite3_step(insert), SQLITE_DONE);
      sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    sqlite3_exec(database, "commit", nullptr, nullptr, nullptr);
    sqlite3_close(database);
  }

  data::Schema schema(bool classes) const {
    const data::Column& is = columns_[classes ? GetParam().classes : GetParam().number];
    data::Schema made{.bias = true};
    for (const data::Column& column : columns_)
      if (column.name != is.name) made.columns.push_back(column);
    made.target.column = is.name;
    if (classes)
      made.target.levels = {records_[1][GetParam().classes], other_class()};
    else
      made.target.low = is.low, made.target.high = is.high, made.target.scale = is.high - is.low;
    made.bundle = scaled(made);
    return made;
  }

  std::string other_class() const {
    for (size_t i = 2; i < records_.size(); ++i)
      if (records_[i][GetParam().classes] != records_[1][GetParam().classes])
        return records_[i][GetParam().classes];
    return "?";
  }

  template <class Norm>
  void same(const Losses& loss, int bits) {
    const data::Schema schema = this->schema(two_classes(loss));
    data::sql::SqlTable table{.query = "select * from t"};
    for (const data::Column& column : columns_)
      table.columns.push_back({column.name, data::sql::Kind::kAny});
    const auto rows = data::read_sqlite(file_, table.query, schema, {}, true);
    ASSERT_TRUE(rows) << rows.error().what;
    const auto lattice = *Lattice::make(2, bits, rows->rows.columns());
    std::vector<double> theta(lattice.dimension());
    for (size_t j = 0; j < theta.size(); ++j) theta[j] = std::sin(static_cast<double>(j) + 1);
    const auto statement =
        sql_gradient<Norm>(data::sql::Dialect::kSqlite, table, schema, loss, lattice);
    ASSERT_TRUE(statement) << statement.error().what;
    auto expected = lattice_sum<Norm>(loss, lattice, theta, rows->rows, 0, rows->rows.size());
    expected.insert(expected.begin(), static_cast<int64_t>(rows->rows.size()));
    const auto runner = *data::sql::open_sqlite(file_);
    const auto found = runner->run(statement->text, statement->values_at(theta));
    ASSERT_TRUE(found) << found.error().what;
    EXPECT_EQ(*found, expected) << name_of(loss);
    EXPECT_GT(std::count_if(expected.begin(), expected.end(), [](int64_t n) { return n != 0; }), 5);
  }

  Records records_;
  std::vector<data::Column> columns_;
  std::filesystem::path file_;
};

TEST_P(RealDataSql, GradientsAreTheKernels) {
  for (const Losses& loss : {Losses(Squared{}), Losses(Huber{}), Losses(Hinge{}),
                             Losses(Logistic{}), Losses(Logistic{.weights = {.5, 8}})}) {
    same<L1>(loss, 24);
    same<L2>(loss, 26);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Tables, RealDataSql,
    testing::Values(Given{"creditcard/creditcard_subset_28266.csv.zst", 30, 29},
                    Given{"adult/adult.data.zst", 14, 0},
                    Given{"lendingclub/modeldata_lending_club_9857x23.csv.zst", 22, 0}));

}  // namespace
}  // namespace parley::learn::sql_real_data_test
