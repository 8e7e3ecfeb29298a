// Where records lie, compared: whether two texts such as "csv /data/loans.csv" and "sqlite
// /data/a.db: loans, members" may be about the same records. In doubt they may.
#pragma once

#include "parley/ledger/storage/row.h"

namespace parley::ledger {

/// Files are compared by path; a pattern of Parquet files with all files in its folders. One table
/// of a database has many names (schemas, views, functions, and those of its server), so any two
/// sources in one SQLite file, or in servers of databases, may share records. Drivers and commands
/// can reach everything.
bool may_share_records(const SourceOf& one, const SourceOf& other);

/// Whether `source` is `known`, or some of its tables. Of queries whose tables could not be read
/// the whole text must be the same.
bool reads_no_more(const SourceOf& source, const SourceOf& known);

}  // namespace parley::ledger
