// parley data sql; parley engine, which runs such statements for an owner, and parley driver
#include "parley/plan/sums/sql.h"

#include <CLI/CLI.hpp>
#include <array>
#include <iostream>

#include "command.h"
#include "parley/charter/charter.h"
#include "parley/data/adbc/rows.h"
#include "parley/data/sql/engine.h"
#include "parley/gate/engine/open_engine.h"
#include "parley/report/data/statement.h"

namespace parley::cli {
namespace {

/// The statement that an owner's database would run, for its keeper to read.
struct DataSqlOptions {
  std::filesystem::path charter;
  std::filesystem::path policy;  // empty: columns have the types that the charter expects
  std::vector<std::string> set;
  std::string dialect = "postgresql";
  std::string owner;  // empty: the first of the charter
  std::string query = "select * from records";
  std::vector<std::string> order;  // of a unit's records
};

Result<size_t> place_of(const charter::Charter& charter, const std::string& owner) {
  if (owner.empty()) return size_t{0};
  for (size_t i = 0; i < charter.owners.size(); ++i)
    if (charter.owners[i].name == owner) return i;
  return Error{Code::kInvalid, "the charter has no owner \"" + owner + "\"",
               "Name one of its [[owner]] blocks."};
}

Result<Output> printed(const charter::Charter& charter, const std::string& owner,
                       const data::sql::SqlTable& table, data::sql::Dialect dialect) {
  const auto terms = TRY(plan::terms_for(charter, TRY(place_of(charter, owner))));
  const auto questions = TRY(plan::sql_questions(charter.schema, terms, dialect, table));
  return Output{report::to_text(questions, dialect), report::to_json(questions, dialect)};
}

/// The statements that the daemon of this policy would run, to the letter: its engine is asked for
/// the columns' types.
Result<Output> run_policy(const DataSqlOptions& options, const charter::Charter& charter) {
  const charter::Policy policy = TRY(charter::read_policy(options.policy));
  const charter::Dataset* data = TRY(policy.dataset_for(charter));
  if (data->engine != charter::Engine::kSql)
    return Error{Code::kInvalid,
                 "the rows of data set \"" + data->name + "\" are read and not asked for in SQL",
                 "Set engine = \"sql\" in its [[dataset]] block."};
  const gate::EngineTable found = TRY(gate::engine_table(policy, *data, charter));
  return printed(charter, policy.owner, found.table, found.dialect);
}

Result<Output> run(const DataSqlOptions& options, ProgressStyle) {
  charter::Charter charter =
      TRY(charter::read_charter(options.charter, TRY(overrides(options.set))));
  TRY(charter::load_bundle(charter, std::array{charter.folder}));
  if (!options.policy.empty()) return run_policy(options, charter);
  const auto dialect = data::sql::dialect_named(options.dialect);
  if (!dialect)
    return Error{Code::kInvalid, "no dialect \"" + options.dialect + "\"",
                 "Take duckdb, postgresql, sqlite or spark."};
  auto table = data::sql::expected_table(charter.schema, options.query);
  const charter::Privacy& privacy = charter.privacy;
  if (privacy.unit != "record") {
    table.select.unit = {privacy.unit, static_cast<uint64_t>(privacy.unit_records)};
    table.order = options.order;
    table.columns.push_back({privacy.unit, data::sql::Kind::kText});
    for (const std::string& column : table.order)
      table.columns.push_back({column, data::sql::Kind::kText});
  }
  TRY(plan::check_sql(charter));
  return printed(charter, options.owner, table, *dialect);
}

/// The child process of an owner whose rows stay in a database (data/sql/engine.h).
struct EngineOptions {};

Result<Output> run_engine(const EngineOptions&, ProgressStyle) {
  data::sql::serve_engine(std::cin, std::cout);
  return Output{};
}

/// The child process of an owner whose rows come through a driver (data/adbc/rows.h).
struct DriverOptions {};

Result<Output> run_driver(const DriverOptions&, ProgressStyle) {
  data::serve_driver();
  return Output{};
}

}  // namespace

void add_data_sql(Commands data) {
  const auto [app, options] = data.add<DataSqlOptions>(
      "sql", "Print the SELECT statements that an owner's database would run", run);
  app.add_option("charter", options.charter, "The charter")->required()->type_name("CHARTER");
  auto* policy = app.add_option("--policy", options.policy,
                                "The owner's policy: exactly the statements that its daemon runs. "
                                "Without it columns have the types that the charter expects")
                     ->type_name("POLICY");
  app.add_option("--dialect", options.dialect, "duckdb, postgresql, sqlite or spark")
      ->type_name("NAME")
      ->capture_default_str()
      ->excludes(policy);
  app.add_option("--owner", options.owner, "Owner (default: the first)")->excludes(policy);
  app.add_option("--query", options.query, "Query that yields the records")
      ->capture_default_str()
      ->excludes(policy);
  app.add_option("--order", options.order, "Columns that order the records of a unit")
      ->type_name("COLUMN")
      ->excludes(policy);
  set_option(app, options.set);
}

void add_engine(Commands commands) {
  commands.add<EngineOptions>(
      "engine", "Run an owner's statements in SQLite or PostgreSQL; the owner starts it itself",
      run_engine);
  commands.add<DriverOptions>(
      "driver", "Read an owner's rows through an ADBC driver; the owner starts it itself",
      run_driver);
}

}  // namespace parley::cli
