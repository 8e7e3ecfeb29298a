#include "parley/data/sources/source.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cmath>
#include <fstream>
#include <random>

#include "parley/base/math/number.h"
#include "parley/data/sources/sqlite.h"
#include "support/texts.h"

namespace parley::data {
namespace source_test {

Schema loans() {
  return {.columns = {{.name = "amount", .low = -1e6, .high = 1e6, .missing = 3},
                      {.name = "term",
                       .kind = Column::Kind::kCategory,
                       .levels = {"36", "60"},
                       .other = true},
                      {.name = "home", .kind = Column::Kind::kCategory, .levels = {"RENT", "OWN"}}},
          .target = {.column = "rate", .low = 0, .high = 100}};
}

void expect_same(const CountedRows& a, const CountedRows& b) {
  ASSERT_EQ(a.rows.size(), b.rows.size());
  for (size_t i = 0; i < a.rows.size(); ++i) {
    ASSERT_EQ(a.rows.label(i), b.rows.label(i)) << i;
    for (size_t j = 0; j < a.rows.columns(); ++j)
      ASSERT_EQ(a.rows.row(i)[j], b.rows.row(i)[j]) << i;
  }
  EXPECT_EQ(a.counts.replaced(), b.counts.replaced());
  EXPECT_EQ(a.counts.out_of_bounds(), b.counts.out_of_bounds());
  EXPECT_EQ(a.counts.over_cap, b.counts.over_cap);
}

struct SqliteSource : testing::Test {
  void SetUp() override {
    std::filesystem::remove(file);
    ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  }
  void TearDown() override {
    sqlite3_close(database);
    std::filesystem::remove(file);
    std::filesystem::remove(csv);
  }
  void run(const std::string& sql) {
    ASSERT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
  }
  Source source(std::string query, Selection select = {}) const {
    Source source;
    source.kind = Source::Kind::kSqlite;
    source.path = file;
    source.query = std::move(query);
    source.select = std::move(select);
    return source;
  }

  const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::filesystem::path file = testing::TempDir() + "source_test_" + name + ".db";
  const std::filesystem::path csv = testing::TempDir() + "source_test_" + name + ".csv";
  sqlite3* database = nullptr;
};

TEST_F(SqliteSource, GivesTheRowsOfTheCsvFileBitForBit) {
  run("create table loans (who integer, amount, term integer, home text, rate real)");
  std::ofstream text(csv);
  text << "who,amount,term,home,rate\n";
  std::mt19937_64 random(1);
  sqlite3_exec(database, "begin", nullptr, nullptr, nullptr);
  for (int i = 0; i < 2000; ++i) {
    const double real = std::ldexp(double(random()), -int(random() % 60) - 40);
    const std::string amounts[] = {
        shortest(real), std::to_string(int64_t(random() >> 40)), "", "12.5 %", "nonsense", "1,250"};
    const std::string& amount = amounts[random() % 6];
    const bool number = &amount < amounts + 2;
    const std::string in_sql = amount.empty() ? "null" : number ? amount : "'" + amount + "'";
    const int who = int(random() % 700), term = random() % 3 ? 36 : int(random() % 100);
    const std::string home = random() % 2 ? "RENT" : " OWN ";
    const double rate = double(random() % 2000) / 16;
    run("insert into loans values (" + std::to_string(who) + "," + in_sql + "," +
        std::to_string(term) + ",'" + home + "'," + shortest(rate) + ")");
    text << who << "," << (amount.find(',') == std::string::npos ? amount : "\"" + amount + "\"")
         << "," << term << "," << home << "," << shortest(rate) << "\n";
  }
  run("commit");
  text.close();
  const Selection select{.where = RowFilter{"term", {"37"}, true}, .unit = UnitCap{"who", 2}};
  Source file = source_of(csv);
  file.select = select;
  const auto one = load(file, loans());
  const auto two = load(source("select * from loans order by rowid;", select), loans());
  ASSERT_TRUE(one) << describe(one.error());
  ASSERT_TRUE(two) << describe(two.error());
  EXPECT_GT(one->counts.replaced(), 100u);
  EXPECT_GT(one->counts.over_cap, 100u);
  expect_same(*one, *two);
}

TEST_F(SqliteSource, OnlyReadsAndOnlyOneStatement) {
  run("create table loans (amount, term, home, rate)");
  run("insert into loans values (1, 36, 'RENT', 5)");
  ASSERT_TRUE(load(source("select * from loans"), loans()));
  for (const char* query : {"delete from loans", "select * from loans; delete from loans",
                            "drop table loans", "insert into loans values (1,2,3,4) returning *",
                            "", "select nothing", "attach 'x' as y"}) {
    const auto refused = load(source(query), loans());
    ASSERT_FALSE(refused) << query;
    EXPECT_EQ(refused.error().code, Code::kInvalid) << query;
    EXPECT_EQ(refused.error().where.file, file.string());
  }
  const auto again = load(source("select * from loans"), loans());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->rows.size(), 1u);
  const auto column = load(source("select amount from loans"), loans());
  ASSERT_FALSE(column);
  EXPECT_EQ(column.error().where.key, "term");
  Source missing = source("select 1");
  missing.path += ".absent";
  ASSERT_FALSE(load(missing, loans()));
  EXPECT_FALSE(std::filesystem::exists(missing.path)) << "reading makes no file";
}

TEST_F(SqliteSource, TablesHaveDigestsOfTheirFirstRowsUnderEveryName) {
  run("CREATE TABLE loans (a, b); CREATE TABLE \"odd \"\"one\" (a); CREATE TABLE empty (a);"
      "INSERT INTO loans VALUES (1, 'x'), (2.5, NULL); INSERT INTO \"odd \"\"one\" VALUES (7);"
      "CREATE VIEW seen AS SELECT a FROM loans");
  const auto digests = [&](const std::string& query) { return sqlite_digests(file, query); };
  const auto of_loans = digests("SELECT a FROM loans");
  ASSERT_EQ(of_loans.size(), 1u);
  for (const char* query :
       {"SELECT * FROM main.loans", "SELECT a FROM seen", "SELECT count(*) FROM loans, empty",
        "WITH x AS (SELECT * FROM loans) SELECT * FROM x", "SELECT (SELECT max(b) FROM loans)"})
    EXPECT_EQ(digests(query), of_loans) << query;
  EXPECT_EQ(digests("SELECT loans.a FROM loans, \"odd \"\"one\"").size(), 2u);
  EXPECT_EQ(digests("SELECT 1").size(), 0u);
  EXPECT_EQ(digests("nonsense").size(), 0u);
  EXPECT_EQ(sqlite_digests("/none.db", "SELECT 1").size(), 0u);
  run("CREATE TABLE copied (b TEXT, c TEXT); INSERT INTO copied SELECT * FROM loans");
  EXPECT_EQ(digests("SELECT c FROM copied"), of_loans) << "a column's name and type are no matter";
  run("UPDATE loans SET b = 'y'");
  EXPECT_NE(digests("SELECT a FROM loans"), of_loans);
}

TEST(Source, KnowsFilesByTheirNames) {
  using Kind = Source::Kind;
  for (const char* name : {"a.libsvm", "a.libsvm.zst", "x/b.svm", "c.svmlight.zst"})
    EXPECT_EQ(source_of(name).kind, Kind::kLibsvm) << name;
  for (const char* name : {"a.csv", "a.csv.zst", "a9a", "a.libsvm.csv", "adult.data.zst"})
    EXPECT_EQ(source_of(name).kind, Kind::kCsv) << name;
}

TEST(Source, ALibsvmFileHasNoNamesToSelectBy) {
  Source source = source_of("a.libsvm");
  source.select.unit = UnitCap{"who", 1};
  const auto refused = load(source, test::numbers(2));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what.find("no column names"), std::string::npos);
  EXPECT_FALSE(load_sparse(source_of("a.csv"), test::numbers(2)));
}

}  // namespace source_test
}  // namespace parley::data
