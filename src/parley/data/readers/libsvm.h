// Reads LIBSVM files, `label index:value ...` line by line, into sparse or dense rows.
#pragma once

#include <filesystem>
#include <optional>

#include "parley/base/result.h"
#include "parley/data/encode.h"
#include "parley/data/intake.h"
#include "parley/data/readers/unpack.h"
#include "parley/data/rows.h"
#include "parley/data/sparse_rows.h"

namespace parley::data {

struct LibsvmOptions {
  bool labels = true;  // false for predictions: the first word of a line may be anything
  std::optional<uint64_t> rows{};  // public; another number is an error
  MemoryLimit memory{};            // rows beyond it lie in a file
  uint64_t unpacked_bytes_max = kUnpackedBytesMax;
};

struct CountedSparseRows {
  SparseRows rows;
  Counts counts;
};

/// Plain or packed with zstd. Index i (from 1) is the i-th column of the schema, all of which are
/// numbers; how many there are is the schema's business, not the file's, whose last feature may
/// happen to occur nowhere. What a line leaves out is 0. An index past the schema is ignored, as a
/// CSV column that the schema does not name. A class is compared with the levels as a number where
/// both are numbers: "+1" is "1". Text after '#' is a comment.
///
/// Only the structure can be wrong: a word without a colon, an index that is no whole number from 1
/// or does not go up.
Result<CountedRows> read_libsvm(const std::filesystem::path& path, const Schema& schema,
                                const LibsvmOptions& options = {});

/// The same values. The bounds of every column must hold 0: what is left out must stay so.
Result<CountedSparseRows> read_libsvm_sparse(const std::filesystem::path& path,
                                             const Schema& schema,
                                             const LibsvmOptions& options = {});

}  // namespace parley::data
