// The example charters whose owners answer by themselves: SQLite's sums of 3,000 made records,
// ordinary and odd ones, are the kernel's, number by number. The others are refused by name.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "parley/base/math/seeded_random.h"
#include "parley/charter/charter.h"
#include "parley/data/sources/sqlite.h"
#include "parley/data/sql/run.h"
#include "parley/learn/kernel/kernel.h"
#include "parley/plan/sums/sql.h"
#include "parley/plan/terms.h"

namespace parley::gate::engine_examples_test {
namespace {

constexpr size_t kRows = 3000;

std::filesystem::path examples() {
  const char* source = std::getenv("PARLEY_SOURCE");
  return std::filesystem::path(source ? source : ".") / "examples";
}

charter::Charter example(const std::string& name) {
  auto charter = charter::read_charter(examples() / (name + ".charter.toml"));
  EXPECT_TRUE(charter) << "set PARLEY_SOURCE to the repository: " << describe(charter.error());
  charter->preprocess.reset();  // Its bundle is made of rows that are not here.
  return *std::move(charter);
}

/// Records of a schema in an SQLite file: i, every column, the target, a person.
class Records {
 public:
  Records(const data::Schema& schema, uint64_t seed) : random_(seed, 0) {
    file_ = std::filesystem::temp_directory_path() /
            ("parley_examples_" + std::to_string(getpid()) + ".db");
    std::filesystem::remove(file_);
    check(sqlite3_open(file_.c_str(), &database_) == SQLITE_OK);
    std::string names = "i, person";
    for (const data::Column& column : schema.columns) names += ", \"" + column.name + "\"";
    exec("create table t(" + names + ", \"" + schema.target.column + "\")");
    exec("begin");
    for (size_t i = 0; i < kRows; ++i) {
      std::string cells = std::to_string(i) + ", " + std::to_string(i * 7 % (kRows / 3));
      for (const data::Column& column : schema.columns)
        cells +=
            ", " + (column.kind == data::Column::Kind::kNumber ? number(column.low, column.high)
                                                               : level(column.levels));
      cells += ", " + (schema.target.levels.empty() ? number(schema.target.low, schema.target.high)
                                                    : level(schema.target.levels));
      exec("insert into t values(" + cells + ")");
    }
    exec("commit");
  }
  ~Records() {
    sqlite3_close(database_);
    std::filesystem::remove(file_);
  }
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;
  const std::filesystem::path& file() const { return file_; }

 private:
  void exec(const std::string& sql) {
    ASSERT_EQ(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sql;
  }
  std::string number(double low, double high) {
    static const char* const kOdd[] = {"null", "9e999", "1e308", "5e-324", "'x'", "-0.0"};
    if (random_.uniform() < .1) return kOdd[size_t(random_.uniform() * 6)];
    char text[64];
    std::snprintf(text, sizeof text, "%.17g", low + (high - low) * (1.4 * random_.uniform() - .2));
    return text;
  }
  std::string level(const std::vector<std::string>& levels) {
    const auto at = size_t(random_.uniform() * double(levels.size() + 1));
    if (at == levels.size()) return random_.uniform() < .5 ? "null" : "'?'";
    return "' " + levels[at] + " '";
  }

  SeededRandom random_;
  std::filesystem::path file_;
  sqlite3* database_ = nullptr;
};

std::vector<int64_t> by_kernel(const plan::Terms& terms, const data::Rows& rows,
                               std::span<const double> theta) {
  return std::visit(
      [&]<class M>(const M&) {
        return learn::lattice_sum<typename M::Norm>(terms.loss, terms.lattice, theta, rows, 0,
                                                    rows.size());
      },
      terms.mechanism);
}

/// How many integers of a statement are not the kernel's, the number of rows included.
size_t differences(data::sql::Runner& runner, const data::sql::Statement& statement,
                   std::span<const double> theta, std::vector<int64_t> expected) {
  expected.insert(expected.begin(), kRows);
  const auto found = runner.run(statement.text, statement.values_at(theta));
  EXPECT_TRUE(found) << describe(found.error());
  if (!found || found->size() != expected.size()) return expected.size();
  size_t count = 0;
  for (size_t j = 0; j < expected.size(); ++j) count += (*found)[j] != expected[j];
  return count;
}

TEST(EngineExamples, TheSumsOfADatabaseAreTheKernels) {
  for (const std::string name : {"three-banks", "loans", "hospitals"}) {
    const charter::Charter charter = example(name);
    ASSERT_TRUE(plan::check_sql(charter)) << name;
    const auto terms = plan::terms_for(charter, 0);
    ASSERT_TRUE(terms) << describe(terms.error());
    const Records records(charter.schema, 7);
    data::sql::SqlTable table{.query = "select * from t", .order = {"i"}};
    if (charter.privacy.unit != "record")
      table.select.unit = {"person", static_cast<uint64_t>(charter.privacy.unit_records)};
    const auto read = data::read_sqlite(records.file(), "select * from t order by i",
                                        charter.schema, table.select, true);
    ASSERT_TRUE(read) << describe(read.error());
    const auto runner = *data::sql::open_sqlite(records.file());
    table.columns = *runner->describe(table.query);
    const auto questions =
        plan::sql_questions(charter.schema, *terms, data::sql::Dialect::kSqlite, table);
    ASSERT_TRUE(questions) << describe(questions.error());
    std::vector<double> theta(terms->lattice.dimension());
    for (const double size : {0.0, 1.0}) {
      for (size_t j = 0; j < theta.size(); ++j) theta[j] = size * std::sin(double(j) + 1);
      const auto sums = by_kernel(*terms, read->rows, theta);
      EXPECT_GT(std::count_if(sums.begin(), sums.end(), [](int64_t s) { return s != 0; }), 1)
          << name;
      EXPECT_EQ(differences(*runner, questions->answer, theta, sums), 0u) << name;
      if (terms->evaluation) {
        EXPECT_EQ(differences(*runner, *questions->evaluation, theta,
                              learn::evaluation_sum(terms->evaluation->map, theta, read->rows, 0,
                                                    read->rows.size())),
                  0u)
            << name;
      }
    }
  }
}

TEST(EngineExamples, WhatADatabaseCannotBeAskedIsRefusedByName) {
  EXPECT_EQ(plan::check_sql(example("ten-clinics")).error().where.key, "secure_aggregation");
  EXPECT_EQ(plan::check_sql(example("two-agencies")).error().where.key, "protocol.name");
}

}  // namespace
}  // namespace parley::gate::engine_examples_test
