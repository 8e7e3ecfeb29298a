// Records in another program's memory (numpy arrays, sparse matrices, Arrow streams), read in
// place. The only copy is the rows that are made from them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "parley/base/result.h"
#include "parley/data/intake.h"
#include "parley/data/schema.h"

namespace parley::data {

/// Walks over the records of one table. A cell is valid until the next record is sought.
class CellCursor {
 public:
  virtual ~CellCursor() = default;
  /// Records are sought in their order.
  virtual void seek(uint64_t row) = 0;
  virtual Cell at(size_t column) = 0;
};

/// A table whose cells can be looked at. It may be read by several threads at once.
class Cells {
 public:
  virtual ~Cells() = default;
  virtual const std::vector<std::string>& names() const = 0;
  virtual uint64_t rows() const = 0;
  virtual std::unique_ptr<CellCursor> cursor() const = 0;
};

/// All records of the table.
Result<CountedRows> read_cells(const Cells& cells, const Schema& schema, const Selection& select,
                               bool labels);

/// As a CSV file with a header: numbers in the shortest form that reads back.
std::string to_csv(const Cells& cells);

}  // namespace parley::data
