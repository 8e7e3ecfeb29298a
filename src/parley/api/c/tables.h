// The tables behind a parley_tables: blocks of columns side by side, read in place.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "parley/data/sources/cells.h"

namespace parley::api {

/// An array of numbers; strides in bytes.
struct DenseBlock {
  const double* values;
  uint64_t rows, columns;
  int64_t row_stride, column_stride;
};

/// Compressed sparse rows.
struct SparseBlock {
  const double* values;
  const int64_t* indices;
  const int64_t* offsets;
  uint64_t rows, columns;
};

using Names = std::vector<std::string>;

/// kInvalid where indices or offsets point outside.
Result<std::shared_ptr<const data::Cells>> cells_of(const DenseBlock& block, Names names);
Result<std::shared_ptr<const data::Cells>> cells_of(const SparseBlock& block, Names names);

class Tables {
 public:
  /// More columns of this table. kInvalid if it has another number of rows, or a column of this
  /// name.
  Result<void> add(const std::string& table, std::shared_ptr<const data::Cells> block);
  /// kInvalid with the names that there are.
  Result<std::shared_ptr<const data::Cells>> find(const std::string& table) const;
  const std::map<std::string, std::shared_ptr<const data::Cells>>& all() const { return tables_; }

 private:
  std::map<std::string, std::shared_ptr<const data::Cells>> tables_{};
};

}  // namespace parley::api
