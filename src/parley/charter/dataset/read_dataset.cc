#include "parley/charter/dataset/read_dataset.h"

#include "parley/data/sql/dialect.h"

namespace parley::charter {
namespace {

std::string one_character(std::string_view text) {
  const bool good =
      text.size() == 1 && (text[0] == '\t' || (text[0] >= 32 && text[0] < 127)) && text[0] != '"';
  return good ? "" : "must be one character, found " + in_quotes(text);
}

std::string no_password(std::string_view text) {
  return text.find("password") == std::string_view::npos ? any_text(text)
                                                         : "must not hold a password";
}

std::string any_dialect(std::string_view text) {
  return data::sql::dialect_named(text)
             ? ""
             : "must be duckdb, postgresql, sqlite or spark, found " + in_quotes(text);
}

/// Of those that a driver's query may be narrowed in: texts of Spark have escapes.
std::string plain_dialect(std::string_view text) {
  return text != "spark" && data::sql::dialect_named(text)
             ? ""
             : "must be duckdb, postgresql or sqlite, found " + in_quotes(text);
}

void read_command(Table& t, Dataset& data) {
  t.required("command", data.command, Count{1, 100},
             "Name the program, for example command = [\"/opt/engine\", \"duckdb\"].");
}

void read_csv_signs(Table& t, Dataset& data) {
  t.optional("separator", data.separator, one_character, "For example separator = \",\".");
  t.optional("decimal", data.decimal, one_character, "For example decimal = \".\".");
  if (t.has("header"))
    t.required("header", data.header, Count{1, 20'000},
               "Name the columns of a file without a header line, in order.");
  if (data.separator == data.decimal)
    t.fail("decimal", "must differ from the separator", "For example separator = \";\".");
}

void read_driver(Table& t, Dataset& data) {
  t.required("driver", data.driver, Anything{},
             "Name the shared library, for example driver = \"/usr/local/lib/libduckdb.so\".");
  if (t.has("driver_sha256"))
    t.required("driver_sha256", data.driver_sha256, Anything{},
               "`parley owner check` prints the driver's.");
  if (data.source == Source::kParquet) return;
  t.optional("entry", data.entry, any_text, "For example entry = \"duckdb_adbc_init\".");
  t.optional("options", data.options, Anything{}, "For example options = { uri = \"loans.db\" }.");
  t.optional("option_files", data.option_files, Anything{},
             "Files that hold options, for example option_files = { password = \"db.password\" }.");
  if (t.has("setup"))
    t.required("setup", data.setup, Count{1, 100},
               "Statements that come first, for example setup = [\"load httpfs\"].");
  if (t.has("dialect")) t.required("dialect", data.dialect, plain_dialect, "May be left out.");
  for (const auto& [name, value] : data.options)
    if (const std::string problem = no_password(name); !problem.empty())
      t.fail("options", problem, "Put it into a file of its own, and name that in option_files.");
}

/// A database that parley itself asks, or a command.
void read_engine(Table& t, Dataset& data) {
  const bool command = data.source == Source::kCommand;
  if (command) data.engine = Engine::kSql;
  t.optional("engine", data.engine, Anything{}, "Take \"rows\" or \"sql\".");
  if (command)
    t.required("dialect", data.dialect, any_dialect, "For example dialect = \"duckdb\".");
  else if (data.engine == Engine::kSql && t.has("command"))
    read_command(t, data);
  if (command && data.engine != Engine::kSql)
    t.fail("engine", "a command runs statements, it gives no rows", "Say engine = \"sql\".");
}

void read_source(Table& t, Dataset& data) {
  t.decisive("source", data.source, Anything{}, "For example source = \"csv\".");
  const auto is = [&](Source source) { return data.source == source; };
  if (is(Source::kCommand))
    read_command(t, data);
  else if (is(Source::kPostgres))
    t.required("dsn", data.dsn, no_password,
               "Name a libpq service, for example \"service=parley\".");
  else if (!is(Source::kAdbc))
    t.required("path", data.path, Anything{}, "Name the file, for example path = \"loans.csv\".");
  if (is(Source::kParquet) && data.path.string().find("://") != std::string::npos)
    t.fail("path", "is no file of this machine",
           "For S3 and the like take source = \"adbc\" with DuckDB's library.");
  const bool database = is(Source::kCommand) || is(Source::kPostgres) || is(Source::kSqlite);
  if (database || is(Source::kAdbc))
    t.required("query", data.query, any_text, "For example query = \"select * from loans\".");
  if (database) read_engine(t, data);
  if (is(Source::kAdbc) || is(Source::kParquet)) read_driver(t, data);
  if (is(Source::kCsv)) read_csv_signs(t, data);
}

void read_filter(Table& t, data::RowFilter& filter) {
  t.required("column", filter.column, any_text, "Name the column to look at.");
  filter.exclude = t.has("not_in");
  t.required(filter.exclude ? "not_in" : "in", filter.values, CountOfValues{1, 10'000},
             "List values, for example not_in = [\"draft\"].");
}

void read_budget(Table& t, Dataset& data) {
  double epsilon = 1, delta = 0;
  t.required("epsilon", epsilon, above(0).up_to(1e4),
             "Give the lifetime promise of this data set, for example epsilon = 4.0.");
  t.optional("delta", delta, at_least(0).below(1), "For example delta = 1e-6.");
  double pure = privacy::Budget::pure_unless_said(epsilon, delta);
  t.optional("pure", pure, at_least(0).up_to(epsilon),
             "The part of epsilon for charges without delta, for example pure = 1.0.");
  const auto total = privacy::Epsilon::make(epsilon);
  if (!total) return;  // Already reported.
  const auto budget = privacy::Budget::make(*total, delta, pure);
  if (budget)
    data.budget = *budget;
  else
    t.fail("pure", "does not fit: " + budget.error().what, budget.error().hint);
}

void read_unit(Table& t, Dataset& data) {
  t.required("column", data.unit_column, any_text, "Name the column of the person or account.");
  t.required("records", data.unit_records, at_least(1).up_to(1e6),
             "The most records of one unit that any charter may use, for example records = 3.");
  if (t.has("order"))
    t.required("order", data.unit_order, Count{1, 100},
               "Name columns that say which records come first, for example order = [\"day\"].");
}

}  // namespace

void read_dataset(Table& t, Dataset& data) {
  t.required("name", data.name, any_name, "Name the data set, for example name = \"loans\".");
  read_source(t, data);
  t.optional("columns", data.columns, Anything{}, "For example columns = { rate = \"int_rate\" }.");
  t.table_if_given("where", [&](Table& inner) { read_filter(inner, data.where.emplace()); });
  t.table("budget", [&](Table& inner) { read_budget(inner, data); });
  t.table_if_given("unit", [&](Table& inner) { read_unit(inner, data); });
}

}  // namespace parley::charter
