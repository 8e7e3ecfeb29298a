// Record batches of another library, by the Arrow C stream interface: read in place, nothing is
// linked.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parley/data/arrow/column.h"
#include "parley/data/arrow/interface.h"
#include "parley/data/sources/cells.h"

namespace parley::data {

/// Columns of one batch, valid as long as it.
struct ArrowBatch {
  int64_t rows = 0;
  std::vector<ArrowColumn> columns{};
  Owned<ArrowArray> array{};
};

/// A stream, read batch by batch. kInvalid for a structure that contradicts itself, kFailed where
/// the producer reports an error; what it says is not repeated, since it may hold a private value.
class ArrowStream {
 public:
  /// Takes the stream over, and reads its schema.
  static Result<ArrowStream> open(ArrowArrayStream* given, ArrowColumn::Style style);

  const std::vector<std::string>& names() const { return names_; }
  /// Whether the column holds numbers or texts.
  Result<void> check_type(size_t column) const;
  const char* format(size_t column) const { return schema_->children[column]->format; }

  /// The next batch with these columns, or nothing at the end.
  Result<std::optional<ArrowBatch>> next(const std::vector<size_t>& columns);

 private:
  ArrowStream(Owned<ArrowArrayStream> stream, ArrowColumn::Style style)
      : stream_(std::move(stream)), style_(style) {}
  Result<void> take_names();

  Owned<ArrowArrayStream> stream_;
  ArrowColumn::Style style_;
  Owned<ArrowSchema> schema_{};
  std::vector<std::string> names_{};
};

/// Takes the stream over, and reads it to its end. kInvalid for columns that are neither numbers
/// nor texts, too.
Result<std::shared_ptr<const Cells>> read_stream(ArrowArrayStream* stream);

}  // namespace parley::data
