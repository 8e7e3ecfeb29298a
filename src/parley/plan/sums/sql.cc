#include "parley/plan/sums/sql.h"

#include "parley/learn/sql/select.h"

namespace parley::plan {
namespace {

Error refused(std::string what, std::string key) {
  return {Code::kInvalid,
          std::move(what) + ", which the engine \"sql\" does not do",
          "Read the rows instead: leave out engine in the policy.",
          {.key = std::move(key)}};
}

learn::SqlStatement answer_of(const data::Schema& schema, const Terms& terms,
                              data::sql::Dialect dialect, const data::sql::SqlTable& table) {
  if (terms.statistics)
    return std::visit(
        [&](const auto& map) { return learn::sql_statistics(dialect, table, schema, map); },
        *terms.statistics);
  return std::visit(
      [&]<class M>(const M&) {
        return learn::sql_gradient<typename M::Norm>(dialect, table, schema, terms.loss,
                                                     terms.lattice);
      },
      terms.mechanism);
}

}  // namespace

Result<void> check_sql(const charter::Charter& charter) {
  if (charter.secure_aggregation)
    return refused("owners answer under secure aggregation", "secure_aggregation");
  if (!charter.column_owners.empty())
    return refused("columns lie with several owners", "protocol.name");
  return {};
}

Result<SqlQuestions> sql_questions(const data::Schema& schema, const Terms& terms,
                                   data::sql::Dialect dialect, const data::sql::SqlTable& table) {
  if (terms.gram) return refused("the owner also gives a Gram matrix", "protocol.rule");
  if (terms.fine_tune) return refused("the owner's answer is a model", "protocol");
  SqlQuestions questions{TRY(answer_of(schema, terms, dialect, table))};
  if (terms.evaluation)
    questions.evaluation =
        TRY(learn::sql_evaluation(dialect, table, schema, terms.evaluation->map));
  return questions;
}

}  // namespace parley::plan
