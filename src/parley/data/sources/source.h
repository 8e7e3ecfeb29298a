// Where an owner's records are stored, and one way to read them: files of several kinds, databases
// and tables in memory give the same rows, bit for bit, for the same data.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/result.h"
#include "parley/data.h"
#include "parley/data/adbc/rows.h"
#include "parley/data/any_rows.h"
#include "parley/data/intake.h"
#include "parley/data/readers/csv_scan.h"
#include "parley/data/readers/libsvm.h"
#include "parley/data/readers/unpack.h"
#include "parley/data/schema.h"
#include "parley/data/sources/cells.h"

namespace parley::data {

struct Source {
  enum class Kind { kCsv, kLibsvm, kSqlite, kPostgres, kAdbc, kTable, kCells };
  Kind kind = Kind::kCsv;
  std::filesystem::path path{};          // files
  std::string dsn{}, query{};            // databases
  AdbcSource adbc{};                     // databases by a driver, and Parquet files
  char separator = ',';                  // CSV
  char decimal = '.';                    // CSV
  std::vector<std::string> header{};     // CSV without a header line
  std::shared_ptr<const Table> table{};  // in memory
  std::shared_ptr<const Cells> cells{};  // in another program's memory
  Selection select{};
  uint64_t unpacked_bytes_max = kUnpackedBytesMax;  // packed files
};

struct LoadOptions {
  bool labels = true;  // false for predictions: no target is needed, every label is 0
};

/// A file by its name: .libsvm, .svm and .svmlight are LIBSVM files, all others CSV; a .zst at the
/// end says nothing.
Source source_of(const std::filesystem::path& file, const CsvSigns& signs = {});

/// Columns in memory.
Source source_of(Table table);
Source source_of(std::shared_ptr<const Cells> cells);

/// All records of the source. A record can be odd, never wrong; the structure can, and then the
/// error says where. LIBSVM files have no names, so that no column can be renamed, filtered or
/// capped by.
Result<CountedRows> load(const Source& source, const Schema& schema,
                         const LoadOptions& options = {});

/// In the kind of rows that fits: LIBSVM files and sparse tables stay sparse where a 0 stays 0.
struct CountedAnyRows {
  AnyRows rows;
  Counts counts;
  std::vector<std::string> ids{};
};
Result<CountedAnyRows> load_any(const Source& source, const Schema& schema,
                                const LoadOptions& options = {});

/// The same as sparse rows; LIBSVM files only.
Result<CountedSparseRows> load_sparse(const Source& source, const Schema& schema,
                                      const LoadOptions& options = {});

/// What rows may take where a process shall stay below `megabytes`: the rest is for all else.
MemoryLimit memory_for_rows(uint64_t megabytes, const std::filesystem::path& folder);

/// For messages and results: the file's name, or which kind of source.
std::string name_of(const Source& source);

}  // namespace parley::data
