#include "parley/gate/engine/engine_sum.h"

#include "parley/data/intake.h"
#include "parley/gate/engine/self_check.h"

namespace parley::gate {

Result<plan::SqlQuestions> EngineSum::questions(const EngineRecords& records,
                                                const plan::Terms& terms) {
  const EngineRows& at = records.value_;
  if (at.questions && at.job == terms.charter) return *at.questions;
  const auto dialect = at.engine->dialect();
  auto questions = TRY(plan::sql_questions(at.schema, terms, dialect, at.table));
  TRY(self_check(*at.engine, at.schema, terms));
  const auto count = TRY(data::sql::count_statement(dialect, at.table));
  const auto rows = static_cast<uint64_t>(TRY(at.engine->ask(count, {})).front());
  if (rows != terms.rows) return data::wrong_number_of_rows(terms.rows, rows);
  return questions;
}

Result<EngineRecords> EngineSum::tried(EngineRecords records, const plan::Terms& terms) {
  records.value_.questions = TRY(questions(records, terms));
  records.value_.job = terms.charter;
  return records;
}

template <class Norm>
Result<privacy::Bounded<Norm>> EngineSum::answer(const EngineRecords& records,
                                                 const data::sql::Statement& statement,
                                                 std::span<const double> theta, uint64_t rows,
                                                 double sensitivity) {
  auto numbers = TRY(records.value_.engine->ask(statement, theta));
  const auto found = static_cast<uint64_t>(numbers.front());
  if (found != rows) return data::wrong_number_of_rows(rows, found);
  numbers.erase(numbers.begin());
  return privacy::Bounded<Norm>(std::move(numbers), sensitivity);
}

template Result<privacy::Bounded<L1>> EngineSum::answer<L1>(const EngineRecords&,
                                                            const data::sql::Statement&,
                                                            std::span<const double>, uint64_t,
                                                            double);
template Result<privacy::Bounded<L2>> EngineSum::answer<L2>(const EngineRecords&,
                                                            const data::sql::Statement&,
                                                            std::span<const double>, uint64_t,
                                                            double);

}  // namespace parley::gate
