#include "parley/gate/engine/self_check.h"

#include <cmath>

#include "parley/base/math/seeded_random.h"
#include "parley/data/sources/table.h"
#include "parley/learn/kernel/kernel.h"
#include "parley/plan/sums/sql.h"

namespace parley::gate {
namespace {

constexpr size_t kRows = 60;

std::string literal(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted.append(c == '\'' ? 2 : 1, c);
  return quoted + "'";
}

/// The same rows as a table and as a query. Numbers are thousandths, which every database reads
/// alike from their decimals; texts are those levels that every dialect writes alike.
class PublicRows {
 public:
  PublicRows(data::sql::Dialect dialect, const data::Schema& schema) : dialect_(dialect) {
    for (const data::Column& column : schema.columns)
      if (column.kind == data::Column::Kind::kNumber)
        add(column.name, column.low, column.high);
      else
        add(column.name, column.levels);
    if (schema.target.levels.empty())
      add(schema.target.column, schema.target.low, schema.target.high);
    else
      add(schema.target.column, schema.target.levels);
  }

  const Table& table() const { return table_; }

  data::sql::SqlTable query() const {
    data::sql::SqlTable made;
    for (size_t i = 0; i < kRows; ++i) made.query += (i == 0 ? "" : "\n  union all ") + row(i);
    const bool any = differences(dialect_).typed_by_value;
    for (const Table::Column& column : table_.columns)
      made.columns.push_back({column.name, any                          ? data::sql::Kind::kAny
                                           : column.values.index() == 0 ? data::sql::Kind::kReal
                                                                        : data::sql::Kind::kText});
    return made;
  }

 private:
  void add(const std::string& name, double low, double high) {
    std::vector<double> values;
    for (size_t i = 0; i < kRows; ++i) {
      const double wide = low + (high - low) * (1.2 * random_.uniform() - .1);
      const double limited = std::fmin(std::fmax(wide, -1e12), 1e12);
      values.push_back(std::round(limited * 1000) / 1000);
    }
    table_.columns.push_back({name, std::move(values)});
  }
  void add(const std::string& name, const std::vector<std::string>& levels) {
    std::vector<std::string> values;
    for (size_t i = 0; i < kRows; ++i) {
      const auto at =
          static_cast<size_t>(random_.uniform() * static_cast<double>(levels.size() + 1));
      values.push_back(at < levels.size() && levels[at].find('\\') == std::string::npos ? levels[at]
                                                                                        : "?");
    }
    table_.columns.push_back({name, std::move(values)});
  }

  std::string row(size_t i) const {
    const std::string real(differences(dialect_).real);
    std::string text = "select ";
    for (const Table::Column& column : table_.columns) {
      if (&column != &table_.columns.front()) text += ", ";
      if (const auto* numbers = std::get_if<std::vector<double>>(&column.values)) {
        char digits[64];
        std::snprintf(digits, sizeof digits, "%.3f", (*numbers)[i]);
        text += "cast('" + std::string(digits) + "' as " + real + ")";
      } else {
        text += literal(std::get<std::vector<std::string>>(column.values)[i]);
      }
      text += " as " + quoted(dialect_, column.name);
    }
    return text;
  }

  data::sql::Dialect dialect_;
  SeededRandom random_{2026, 0};  // Any seed: the rows are public.
  Table table_{};
};

std::vector<int64_t> by_kernel(const plan::Terms& terms, const data::Rows& rows,
                               std::span<const double> theta) {
  if (terms.statistics)
    return std::visit(
        [&](const auto& map) { return learn::statistics_sum(map, rows, 0, rows.size()); },
        *terms.statistics);
  return std::visit(
      [&]<class M>(const M&) {
        return learn::lattice_sum<typename M::Norm>(terms.loss, terms.lattice, theta, rows, 0,
                                                    rows.size());
      },
      terms.mechanism);
}

Result<void> compare(std::span<const int64_t> engine, std::span<const int64_t> kernel) {
  for (size_t j = 0; j < kernel.size(); ++j)
    if (std::abs(engine[j] - kernel[j]) > static_cast<int64_t>(kRows))
      return Error{Code::kFailed,
                   "the database does not compute what the charter says: of public rows, number " +
                       std::to_string(j + 1) + " is " + std::to_string(engine[j]) + " and not " +
                       std::to_string(kernel[j]),
                   "Do not use it as an engine; leave out engine in the policy."};
  return {};
}

}  // namespace

Result<void> self_check(data::sql::Engine& engine, const data::Schema& schema,
                        const plan::Terms& terms) {
  const PublicRows made(engine.dialect(), schema);
  const auto rows = TRY(data::read_table(made.table(), schema, {}, true)).rows;
  const auto questions = TRY(plan::sql_questions(schema, terms, engine.dialect(), made.query()));
  std::vector<double> theta(terms.lattice.dimension());
  for (size_t j = 0; j < theta.size(); ++j)
    theta[j] = (j % 2 == 0 ? 1 : -1) / (1.0 + double(j % 7));
  const auto found = TRY(engine.ask(questions.answer, theta));
  TRY(compare(std::span(found).subspan(1), by_kernel(terms, rows, theta)));
  if (!questions.evaluation) return {};
  const auto loss = TRY(engine.ask(*questions.evaluation, theta));
  return compare(std::span(loss).subspan(1),
                 learn::evaluation_sum(terms.evaluation->map, theta, rows, 0, rows.size()));
}

}  // namespace parley::gate
