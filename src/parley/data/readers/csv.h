// Reads an owner's CSV file by the charter's schema, in one pass and in bounded memory beside the
// rows themselves.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "parley/base/result.h"
#include "parley/data/intake.h"
#include "parley/data/readers/unpack.h"

namespace parley::data {

struct CsvOptions {
  char separator = ',';
  char decimal = '.';
  bool labels = true;  // false for predictions: the file needs no target, every label is 0
  std::vector<std::string> header{};  // names the columns of a file whose first line does not
  Selection select{};
  uint64_t unpacked_bytes_max = kUnpackedBytesMax;
};

/// RFC 4180, plain or packed with zstd; columns are found by name, others are ignored. The names
/// must be UTF-8. Only the structure can be wrong (no such file or column, another number of fields
/// than the header, an open quote, a packed file that is cut off); what a record contains never is,
/// see Encoder.
Result<Rows> read_csv(const std::filesystem::path& path, const Schema& schema,
                      const CsvOptions& options = {});

/// The same, with counts that must not leave the owner.
Result<CountedRows> read_csv_counted(const std::filesystem::path& path, const Schema& schema,
                                     const CsvOptions& options = {});

}  // namespace parley::data
