#include "parley/data/sources/sparse_cells.h"

#include <algorithm>
#include <utility>

namespace parley::data {
namespace {

constexpr uint64_t kAtOnce = 1024;  // records that are dense at a time

/// Some records of a table, one after the other.
class Part final : public Cells {
 public:
  Part(const Cells& all, uint64_t begin)
      : all_(all), begin_(begin), rows_(std::min(kAtOnce, all.rows() - begin)) {}
  const std::vector<std::string>& names() const override { return all_.names(); }
  uint64_t rows() const override { return rows_; }
  std::unique_ptr<CellCursor> cursor() const override {
    return std::make_unique<Cursor>(all_.cursor(), begin_);
  }

 private:
  class Cursor final : public CellCursor {
   public:
    Cursor(std::unique_ptr<CellCursor> all, uint64_t begin) : all_(std::move(all)), begin_(begin) {}
    void seek(uint64_t row) override { all_->seek(begin_ + row); }
    Cell at(size_t column) override { return all_->at(column); }

   private:
    std::unique_ptr<CellCursor> all_;
    uint64_t begin_;
  };

  const Cells& all_;
  uint64_t begin_, rows_;
};

void append(const Rows& dense, SparseRows& rows) {
  std::vector<uint32_t> at;
  std::vector<double> values;
  for (size_t i = 0; i < dense.size(); ++i) {
    at.clear(), values.clear();
    const auto z = dense.row(i);
    for (size_t j = 0; j < z.size(); ++j)
      if (z[j] != 0) at.push_back(static_cast<uint32_t>(j)), values.push_back(z[j]);
    rows.add(at, values, dense.label(i));
  }
}

void append(const Counts& more, Counts& counts) {
  counts.rows += more.rows;
  counts.columns.resize(more.columns.size());
  for (size_t j = 0; j < more.columns.size(); ++j) {
    counts.columns[j].out_of_bounds += more.columns[j].out_of_bounds;
    counts.columns[j].replaced += more.columns[j].replaced;
  }
}

}  // namespace

const SparseCells* stays_sparse(const Cells& cells, const Schema& schema, const Selection& select) {
  const auto* sparse = dynamic_cast<const SparseCells*>(&cells);
  // A filter, a block, a cap or ids are of the whole table, of which a part knows nothing.
  if (!sparse || select.where || select.block || select.unit || !select.id.empty()) return nullptr;
  Encoder encoder(schema, '.', false);
  const auto& names = cells.names();
  for (const std::string& wanted : encoder.wanted()) {
    const auto renamed = select.columns.find(wanted);
    const auto found = std::find(names.begin(), names.end(),
                                 renamed == select.columns.end() ? wanted : renamed->second);
    if (found == names.end() || !sparse->sparse(static_cast<size_t>(found - names.begin())))
      return nullptr;
  }
  Rows zeros(encoder.features());
  Counts counts{.columns = std::vector<Counts::Column>(schema.columns.size() + 1)};
  encoder.add(std::vector<Cell>(encoder.wanted().size(), Cell::of(0.0)), zeros, counts);
  const auto z = zeros.row(0).first(encoder.features() - schema.bias);
  return std::all_of(z.begin(), z.end(), [](double value) { return value == 0; }) ? sparse
                                                                                  : nullptr;
}

Result<CountedSparseRows> read_sparse_cells(const SparseCells& cells, const Schema& schema,
                                            const Selection& select, bool labels) {
  if (select.rows && cells.rows() != *select.rows)
    return wrong_number_of_rows(*select.rows, cells.rows());
  Selection part = select;
  part.rows.reset(), part.memory = {};
  CountedSparseRows found{SparseRows(schema.features().size(), select.memory), {}};
  for (uint64_t begin = 0; begin < cells.rows(); begin += kAtOnce) {
    const CountedRows dense = TRY(read_cells(Part(cells, begin), schema, part, labels));
    append(dense.rows, found.rows);
    append(dense.counts, found.counts);
    if (found.rows.failure()) return *found.rows.failure();
  }
  found.counts.columns.resize(schema.columns.size() + 1);  // also of no records
  return found;
}

}  // namespace parley::data
