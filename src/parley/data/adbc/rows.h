// Rows of any database that has an ADBC driver, and of Parquet files through DuckDB's library. The
// driver is somebody else's code, so it runs in a child process, `parley driver`, which passes on
// only the cells of rows. The owner reads them like those of any other source.
//
//   owner: a line of JSON: the driver, its options, the query, how much memory the child may take
//   child: {"columns":[{"name":"amount","kind":"other"}, ...]}, or {"error":"...", ...}
//   owner: {"take":[0,2],"sql":"..."}: which columns, and with `sql` which narrower query to run
//   child: frames of records (frames.h)
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "parley/base/result.h"
#include "parley/data/adbc/driver.h"
#include "parley/data/intake.h"
#include "parley/data/sql/dialect.h"

namespace parley::data {

struct AdbcSource {
  DriverSettings driver{};
  std::string query{};
  std::optional<sql::Dialect> dialect{};  // of the query; then only what is needed is asked for
  std::vector<std::string> order{};       // with a dialect: columns to sort by
  uint64_t memory_mb = 0;                 // that the driver's process may take; 0: any
  std::chrono::seconds patience{3600};    // between two words of it
};

/// Where the entry function is DuckDB's: options that the owner did not give, which keep it within
/// `memory_mb` and from loading extensions by itself.
inline constexpr const char* kDuckdbEntry = "duckdb_adbc_init";
void add_duckdb_options(AdbcSource& source, uint64_t threads, const std::string& folder);

/// The query of a Parquet file, or of those that a pattern names.
std::string parquet_query(const std::string& path);

/// The query decides the order of the rows. A boolean is true or false, a single-precision number
/// the shortest decimal that reads back, and a decimal its digits, as a CSV file shows them.
/// Columns of dates and times, lists and binary data are refused by name, if they are looked at.
Result<CountedRows> read_adbc(const AdbcSource& source, const Schema& schema,
                              const Selection& select, bool labels);

/// The child's end: `parley driver`. Its input and output are a socket.
void serve_driver();

}  // namespace parley::data
