// Reads the rows of a query to an SQLite file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/base/result.h"
#include "parley/data/intake.h"

namespace parley::data {

/// The file is opened for reading only. The query decides the order of the rows; with a cap on
/// units it should have an ORDER BY. A number is the number itself, NULL a missing value, anything
/// else text as in a CSV file.
Result<CountedRows> read_sqlite(const std::filesystem::path& file, const std::string& query,
                                const Schema& schema, const Selection& select, bool labels);

/// A hash of the first rows of every table that the query reads, also behind views; none of tables
/// without rows, or if the query cannot run. Not to be shown as they are: who has the same rows
/// finds the same hashes.
std::vector<Hash> sqlite_digests(const std::filesystem::path& file, const std::string& query);

}  // namespace parley::data
