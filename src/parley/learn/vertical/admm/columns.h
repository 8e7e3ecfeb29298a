// Divides the columns of one table among the parties of a vertical job.
#pragma once

#include "parley/data/any_rows.h"

namespace parley::learn {

/// Columns [first, last) of every record, with its label.
data::AnyRows columns_between(const data::AnyRows& rows, size_t first, size_t last);

}  // namespace parley::learn
