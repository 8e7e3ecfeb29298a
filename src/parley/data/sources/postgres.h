// Reads the rows of a query to a PostgreSQL database, by binary COPY.
#pragma once

#include <string>

#include "parley/base/result.h"
#include "parley/data/intake.h"

namespace parley::data {

/// `dsn` is libpq's (service=..., host=...); a password stands in ~/.pgpass or a client
/// certificate, never in ours. The query runs in a read-only transaction and decides the order of
/// the rows; with a cap on units it should have an ORDER BY.
///
/// Columns may be smallint, integer, bigint, real, double precision, numeric, boolean or text;
/// others are cast in the query. Values are those that COPY ... (FORMAT csv) would write, NULL the
/// empty text: a boolean is t or f.
Result<CountedRows> read_postgres(const std::string& dsn, const std::string& query,
                                  const Schema& schema, const Selection& select, bool labels);

}  // namespace parley::data
