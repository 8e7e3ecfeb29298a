// A table in another program's memory of which most values are 0 and not stored. Its records become
// sparse rows where a 0 stays 0 as a feature.
#pragma once

#include "parley/data/readers/libsvm.h"
#include "parley/data/sources/cells.h"

namespace parley::data {

class SparseCells : public Cells {
 public:
  /// Is this column given so? Public: a matter of how the table was handed over.
  virtual bool sparse(size_t column) const = 0;
};

/// `cells`, if its records are better kept as sparse rows: all columns of the schema are sparse,
/// and a record of zeros has no feature but the bias; else null. No value decides.
const SparseCells* stays_sparse(const Cells& cells, const Schema& schema, const Selection& select);

/// The records that read_cells gives, bit for bit. Only some of them are dense at a time.
Result<CountedSparseRows> read_sparse_cells(const SparseCells& cells, const Schema& schema,
                                            const Selection& select, bool labels);

}  // namespace parley::data
