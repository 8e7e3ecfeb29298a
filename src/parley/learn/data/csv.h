// Reads an owner's CSV file by the charter's schema, in one pass and in bounded memory beside the
// rows themselves.
#pragma once

#include <filesystem>

#include "parley/base/result.h"
#include "parley/learn/data/csv_encode.h"
#include "parley/learn/data/rows.h"
#include "parley/learn/data/schema.h"

namespace parley::learn {

struct CsvOptions {
  char separator = ',';
  char decimal = '.';
  bool labels = true;  // false for predictions: the file needs no target, every label is 0
};

struct CountedRows {
  Rows rows;
  CsvCounts counts;
};

/// UTF-8, RFC 4180, with a header line; columns are found by name, others are ignored. Only the
/// structure can be wrong (no such file or column, another number of fields than the header, an
/// open quote); what a record contains never is, see CsvEncoder.
Result<Rows> read_csv(const std::filesystem::path& path, const Schema& schema,
                      const CsvOptions& options = {});

/// The same, with counts that must not leave the owner.
Result<CountedRows> read_csv_counted(const std::filesystem::path& path, const Schema& schema,
                                     const CsvOptions& options = {});

}  // namespace parley::learn
