// The sums that a database makes are the kernel's, and hostile records change neither that nor the
// bound. SQLite here; PostgreSQL where PARLEY_TEST_PG names one; others in scripts/check sql.
#include "parley/learn/sql/select.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>

#include "parley/base/math/seeded_random.h"
#include "parley/data/sources/sqlite.h"
#include "parley/data/sql/run.h"
#include "parley/learn/kernel/kernel.h"

namespace parley::learn::sql_test {
namespace {

using data::sql::Dialect;

/// A file of records in SQLite: three numbers, two categories, a member, a number and a class.
class SqlSums : public testing::Test {
 protected:
  void SetUp() override {
    file_ = std::filesystem::temp_directory_path() / ("parley_sql_" + std::to_string(getpid()));
    std::filesystem::remove(file_);
    ASSERT_EQ(sqlite3_open(file_.c_str(), &database_), SQLITE_OK);
    exec("create table t(i, a, b, c, home, grade, member, rate, paid)");
  }
  void TearDown() override {
    sqlite3_close(database_);
    std::filesystem::remove(file_);
  }
  void exec(const std::string& sql) {
    ASSERT_EQ(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sql;
  }

  /// Ordinary records, and among them missing and odd cells.
  void insert(size_t count, uint64_t seed) {
    static const char* const kHomes[] = {"'RENT'", "' OWN '", "'OTHER'", "null", "3", "'1-2'"};
    static const char* const kGrades[] = {"1", "'2'", "3", "4.0", "'x'", "2.5"};
    SeededRandom random(seed, 0);
    exec("begin");
    for (size_t i = 0; i < count; ++i) {
      const auto pick = [&](auto& list) { return std::string(list[size_t(random.uniform() * 6)]); };
      const auto number = [&](double scale) {
        if (random.uniform() < .05) return std::string("null");
        char text[64];
        std::snprintf(text, sizeof text, "%.17g", scale * random.normal());
        return std::string(text);
      };
      exec("insert into t values(" + std::to_string(i) + "," + number(1) + "," + number(40) + "," +
           number(1e4) + "," + pick(kHomes) + "," + pick(kGrades) + "," +
           std::to_string(int(random.uniform() * count / 3)) + "," + number(5) + "," +
           (random.uniform() < .5   ? "'no'"
            : random.uniform() < .9 ? "'yes'"
                                    : "'?'") +
           ")");
    }
    exec("commit");
  }

  void insert_hostile(size_t count) {
    static const char* const kOdd[] = {"9e999",
                                       "-9e999",
                                       "1e308",
                                       "-1.7976931348623157e308",
                                       "5e-324",
                                       "-1e-310",
                                       "1e-200",
                                       "0",
                                       "null",
                                       "'NaN'",
                                       "x'00ff'",
                                       "-0.0",
                                       "9223372036854775807",
                                       "1e-150",
                                       "''",
                                       "'1e500'"};
    SeededRandom random(5, 0);
    exec("begin");
    for (size_t i = 0; i < count; ++i) {
      std::string row = std::to_string(i);
      for (int column = 0; column < 8; ++column)
        row += "," + std::string(kOdd[size_t(random.uniform() * 16)]);
      exec("insert into t values(" + row + ")");
    }
    exec("commit");
  }

  data::Schema schema(bool classes) const {
    using data::Column;
    Column a{.name = "a", .low = -3, .high = 3, .missing = .25};
    Column b{.name = "b", .low = -.75, .high = 1e6, .missing = 10, .log = true};
    Column c{.name = "c", .low = -1e130, .high = 1e130, .missing = 0};
    Column home{.name = "home", .kind = Column::Kind::kCategory, .levels = {"RENT", "OWN", "12"}};
    home.other = true, home.strip = "-";
    Column grade{.name = "grade", .kind = Column::Kind::kCategory, .levels = {"1", "2", "3", "4"}};
    grade.encode = Column::Encode::kInteger;
    data::Target target{.column = "rate", .low = -10, .high = 12, .center = 1, .scale = 3};
    if (classes) target = {.column = "paid", .levels = {"no", "yes"}};
    return {.columns = {a, b, c, home, grade}, .target = target, .bias = true};
  }

  data::sql::SqlTable table() const {
    data::sql::SqlTable table{.query = "select * from t order by i;"};
    for (const char* name : {"i", "a", "b", "c", "home", "grade", "member", "rate", "paid"})
      table.columns.push_back({name, data::sql::Kind::kAny});
    return table;
  }

  std::vector<int64_t> from_database(const data::sql::Statement& statement,
                                     std::span<const double> theta) {
    auto runner = data::sql::open_sqlite(file_);
    EXPECT_TRUE(runner);
    const auto found = (*runner)->run(statement.text, statement.values_at(theta));
    EXPECT_TRUE(found) << (found ? "" : found.error().what);
    return found ? *found : std::vector<int64_t>();
  }

  data::Rows rows(const data::sql::SqlTable& table, const data::Schema& schema) const {
    auto read = data::read_sqlite(file_, table.query, schema, table.select, true);
    EXPECT_TRUE(read);
    return std::move(read->rows);
  }

  template <class Norm>
  void same_gradient(const Losses& loss, const data::Schema& schema,
                     const data::sql::SqlTable& table, double clip = 5, int bits = 26) {
    const data::Rows all = rows(table, schema);
    const auto lattice = Lattice::make(clip, bits, all.columns());
    const auto theta = theta_of(all.columns());
    const auto statement = sql_gradient<Norm>(Dialect::kSqlite, table, schema, loss, *lattice);
    ASSERT_TRUE(statement) << statement.error().what;
    auto expected = lattice_sum<Norm>(loss, *lattice, theta, all, 0, all.size());
    expected.insert(expected.begin(), static_cast<int64_t>(all.size()));
    EXPECT_EQ(from_database(*statement, theta), expected) << name_of(loss);
  }

  static std::vector<double> theta_of(size_t columns) {
    SeededRandom random(7, 0);
    std::vector<double> theta(columns);
    for (double& value : theta) value = random.normal() / 3;
    return theta;
  }

  std::filesystem::path file_;
  sqlite3* database_ = nullptr;
};

const std::vector<Losses> kNumbers = {Squared{}, Huber{.delta = .7}};
const std::vector<Losses> kClasses = {Hinge{}, Logistic{}, Logistic{.weights = {.5, 3}},
                                      Hinge{.weights = {2, .25}}};

TEST_F(SqlSums, GradientsAreTheKernels) {
  insert(3000, 1);
  for (const Losses& loss : kNumbers) {
    same_gradient<L1>(loss, schema(false), table());
    same_gradient<L2>(loss, schema(false), table());
  }
  for (const Losses& loss : kClasses) {
    same_gradient<L1>(loss, schema(true), table());
    same_gradient<L2>(loss, schema(true), table());
  }
}

TEST_F(SqlSums, UnitsAndFiltersAreTheReaders) {
  insert(2000, 2);
  auto capped = table();
  capped.select.unit = data::UnitCap{"member", 2};
  capped.order = {"i"};
  capped.select.where = data::RowFilter{"home", {"RENT", ""}, true};
  same_gradient<L2>(Logistic{}, schema(true), capped);
  capped.select.where->exclude = false;
  same_gradient<L1>(Squared{}, schema(false), capped);
}

TEST_F(SqlSums, HostileRecordsFailNothing) {
  insert_hostile(10000);
  for (const Losses& loss : kNumbers) {
    same_gradient<L1>(loss, schema(false), table());
    same_gradient<L2>(loss, schema(false), table(), 1e-20, 20);
  }
  for (const Losses& loss : kClasses) {
    same_gradient<L1>(loss, schema(true), table(), 1e20, 32);
    same_gradient<L2>(loss, schema(true), table());
  }
}

template <class Norm>
double size_of(std::span<const int64_t> numbers) {
  double sum = 0;
  for (const int64_t each : numbers) {
    const auto number = static_cast<double>(each);
    sum += std::is_same_v<Norm, L1> ? std::fabs(number) : number * number;
  }
  return std::is_same_v<Norm, L1> ? sum : std::sqrt(sum);
}

/// Each record alone: what it adds is within the bound of its question.
TEST_F(SqlSums, EveryRecordKeepsItsBound) {
  insert_hostile(60);
  exec("update t set i = i + 1000");
  insert(20, 3);
  auto runner = *data::sql::open_sqlite(file_);
  const auto theta = theta_of(9);
  // The integers of every record, without the count.
  const auto of_each = [&](auto&& statement_of) {
    std::vector<std::vector<int64_t>> found;
    for (int i = 0; i < 1060; i = i == 19 ? 1000 : i + 1) {
      auto one = table();
      one.query = "select * from t where i = " + std::to_string(i);
      const data::sql::Statement statement = *statement_of(one);
      auto numbers = *runner->run(statement.text, statement.values_at(theta));
      EXPECT_EQ(numbers[0], 1);
      found.emplace_back(numbers.begin() + 1, numbers.end());
    }
    EXPECT_EQ(found.size(), 80u);
    return found;
  };
  const auto gradients = [&]<class Norm>(Norm, const Losses& loss, bool classes, double clip) {
    const auto lattice = *Lattice::make(clip, 26, 9);
    for (const auto& numbers : of_each([&](const data::sql::SqlTable& one) {
           return sql_gradient<Norm>(Dialect::kSqlite, one, schema(classes), loss, lattice);
         }))
      EXPECT_LE(size_of<Norm>(numbers), lattice.bound<Norm>() * (1 + 1e-15)) << name_of(loss);
  };
  const auto every_question = [&](const Losses& loss, bool classes) {
    for (const double clip : {1e-3, 5.}) {
      gradients(L1{}, loss, classes, clip);
      gradients(L2{}, loss, classes, clip);
    }
    const auto map = *EvaluationMap::make(loss, classes ? 1 : 4, 26);
    for (const auto& numbers : of_each([&](const data::sql::SqlTable& one) {
           return sql_evaluation(Dialect::kSqlite, one, schema(classes), map);
         }))
      for (const int64_t number : numbers) {
        EXPECT_GE(number, 0) << name_of(loss);
        EXPECT_LE(static_cast<double>(number), map.bound() / map.gamma()) << name_of(loss);
      }
  };
  for (const Losses& loss : kNumbers) every_question(loss, false);
  for (const Losses& loss : kClasses) every_question(loss, true);
  const auto moments = [&]<class Norm>(Norm) {
    const auto map = *StatisticsMap<Norm>::make(4, 5, 26, 9, .5);
    const auto found = of_each([&](const data::sql::SqlTable& one) {
      return sql_statistics(Dialect::kSqlite, one, schema(false), map);
    });
    double most = 0;
    for (const auto& one : found)
      for (const auto& other : found) {
        std::vector<int64_t> moved(one.size());
        std::transform(one.begin(), one.end(), other.begin(), moved.begin(), std::minus<>());
        most = std::max(most, size_of<Norm>(moved));
      }
    EXPECT_LE(most, map.sensitivity());
    EXPECT_GT(most, map.sensitivity() / 4) << "the records no longer try the bound";
  };
  moments(L1{});
  moments(L2{});
}

TEST_F(SqlSums, EvaluationsAndMomentsAreTheKernels) {
  insert(2000, 4);
  insert_hostile(2000);
  const auto check = [&](const Losses& loss, bool classes) {
    const data::Rows all = rows(table(), schema(classes));
    const auto theta = theta_of(all.columns());
    const auto map = *EvaluationMap::make(loss, classes ? 1 : 4, 26);
    const auto statement = *sql_evaluation(Dialect::kSqlite, table(), schema(classes), map);
    auto expected = evaluation_sum(map, theta, all, 0, all.size());
    expected.insert(expected.begin(), static_cast<int64_t>(all.size()));
    EXPECT_EQ(from_database(statement, theta), expected) << name_of(loss);
  };
  for (const Losses& loss : kNumbers) check(loss, false);
  for (const Losses& loss : kClasses) check(loss, true);
  const auto moments = [&]<class Norm>(Norm) {
    const data::Rows all = rows(table(), schema(false));
    const auto map = *StatisticsMap<Norm>::make(4, 5, 26, all.columns(), .5);
    const auto statement = *sql_statistics(Dialect::kSqlite, table(), schema(false), map);
    auto expected = statistics_sum(map, all, 0, all.size());
    expected.insert(expected.begin(), static_cast<int64_t>(all.size()));
    EXPECT_EQ(from_database(statement, {}), expected);
  };
  moments(L1{});
  moments(L2{});
}

/// Selection, cut, rotation, Fourier features and leaves.
TEST_F(SqlSums, BundlesAreTheTransforms) {
  insert(800, 6);
  data::Schema plain = schema(true);
  plain.columns[2].low = -1e5, plain.columns[2].high = 1e5;
  const data::Schema encoding = data::encoding_of(plain);
  const data::Rows pilot = rows(table(), encoding);
  std::vector<data::FitOptions> all(5);
  all[0].cut = 2;
  all[1].components = 4, all[1].whiten = true;
  all[2].fourier = data::Bundle::Fourier{.features = 20, .seed = 3, .scale = 2};
  all[3].components = 3,
  all[3].fourier = data::Bundle::Fourier{.features = 10, .seed = 4, .scale = .5};
  data::Tree tree{.splits = {{1, 0, .5}, {2, 1, 1}, {3, 2, -3}}, .values = {1, 2, 3, 4}};
  all[4].trees = data::Trees{.columns = encoding.encoded().size(), .trees = {tree, tree}};
  for (const auto& options : all) {
    const auto bundle = data::fit_bundle(pilot, plain, {}, options);
    ASSERT_TRUE(bundle) << bundle.error().what;
    data::Schema with = plain;
    with.bundle = *bundle;
    same_gradient<L2>(Logistic{}, with, table());
    same_gradient<L1>(Hinge{}, with, table());
  }
}

TEST_F(SqlSums, RefusalsNameTheColumn) {
  auto typed = table();
  typed.columns[1].kind = data::sql::Kind::kText;
  const auto lattice = *Lattice::make(1, 26, 9);
  const auto refused = [&](const data::sql::SqlTable& of, const data::Schema& schema) {
    const auto made = sql_gradient<L1>(Dialect::kPostgresql, of, schema, Squared{}, lattice);
    return made ? std::string("made") : made.error().where.key;
  };
  EXPECT_EQ(refused(typed, schema(false)), "a");
  data::Schema wide = schema(false);
  wide.columns[2].high = 1e200;
  EXPECT_EQ(refused(table(), wide), "c");
  auto capped = table();
  capped.select.unit = data::UnitCap{"member", 2};
  EXPECT_EQ(refused(capped, schema(false)), "dataset.unit.order");
  capped.columns.erase(capped.columns.begin() + 6);
  capped.order = {"i"};
  EXPECT_EQ(refused(capped, schema(false)), "member");
}

}  // namespace
}  // namespace parley::learn::sql_test
