// What a job asks of rows that stay in a database: one SELECT for its answers, one for the
// evaluation (learn/sql/select.h has the proof of their bounds).
#pragma once

#include <optional>

#include "parley/charter/charter.h"
#include "parley/data/sql/record.h"
#include "parley/plan/terms.h"

namespace parley::plan {

struct SqlQuestions {
  data::sql::Statement answer;
  std::optional<data::sql::Statement> evaluation{};
};

/// Refuses, naming the key, what is not a sum over records that one statement can make.
Result<SqlQuestions> sql_questions(const data::Schema& schema, const Terms& terms,
                                   data::sql::Dialect dialect, const data::sql::SqlTable& table);

/// Charters whose owners answer by such sums: no secure aggregation, no columns in several places.
Result<void> check_sql(const charter::Charter& charter);

}  // namespace parley::plan
