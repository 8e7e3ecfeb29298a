// The statements that a database of rows would run, as `parley data sql` prints them.
#pragma once

#include <string>

#include "parley/plan/sums/sql.h"

namespace parley::report {

std::string to_text(const plan::SqlQuestions& questions, data::sql::Dialect dialect);
std::string to_json(const plan::SqlQuestions& questions,
                    data::sql::Dialect dialect);  // parley.sql/1

}  // namespace parley::report
