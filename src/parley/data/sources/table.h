// Records that a program has in memory already.
#pragma once

#include "parley/base/result.h"
#include "parley/data.h"
#include "parley/data/intake.h"
#include "parley/data/schema.h"

namespace parley::data {

/// All records of the table. Columns of different lengths are an error.
Result<CountedRows> read_table(const Table& table, const Schema& schema, const Selection& select,
                               bool labels);

}  // namespace parley::data
