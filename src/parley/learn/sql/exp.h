// The exponential of loss/exp.h as steps of a statement, for the losses that need it.
#pragma once

#include <string>
#include <vector>

#include "parley/data/sql/statement.h"

namespace parley::learn {

/// A step with the column `e` = e^-size more, for a column `size` of numbers from 0 to 700; it
/// keeps the columns `keep`.
void write_exp(data::sql::Writer& w, std::vector<std::string> keep);

}  // namespace parley::learn
