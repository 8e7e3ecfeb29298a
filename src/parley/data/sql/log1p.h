// portable_log1p (base/math/portable.h) of columns, operation by operation.
#pragma once

#include <string>
#include <vector>

#include "parley/data/sql/statement.h"

namespace parley::data::sql {

/// The `columns`, numbers above -1 and below 2^500, become log(1 + x); the others of `keep` stay.
void write_log1p(Writer& w, const std::vector<std::string>& keep,
                 const std::vector<std::string>& columns);

}  // namespace parley::data::sql
