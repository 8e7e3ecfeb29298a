// Reads the rows of a query to an SQLite file.
#pragma once

#include <filesystem>
#include <string>

#include "parley/base/result.h"
#include "parley/data/intake.h"

namespace parley::data {

/// The file is opened for reading only. The query decides the order of the rows; with a cap on
/// units it should have an ORDER BY. A number is the number itself, NULL a missing value, anything
/// else text as in a CSV file.
Result<CountedRows> read_sqlite(const std::filesystem::path& file, const std::string& query,
                                const Schema& schema, const Selection& select, bool labels);

}  // namespace parley::data
