#include "parley/api/c/tables.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "parley/base/printable.h"
#include "parley/data/sources/sparse_cells.h"

namespace parley::api {
namespace {

data::Cell cell_of(double value) {
  return std::isnan(value) ? data::Cell{} : data::Cell::of(value);
}

/// A block whose cursor is C.
template <class Block, class C>
class BlockCells final : public data::SparseCells {
 public:
  BlockCells(const Block& block, Names names) : block_(block), names_(std::move(names)) {}
  const Names& names() const override { return names_; }
  uint64_t rows() const override { return block_.rows; }
  bool sparse(size_t) const override { return std::is_same_v<Block, SparseBlock>; }
  std::unique_ptr<data::CellCursor> cursor() const override { return std::make_unique<C>(block_); }

 private:
  Block block_;
  Names names_;
};

class DenseCursor final : public data::CellCursor {
 public:
  explicit DenseCursor(const DenseBlock& block) : block_(block) {}
  void seek(uint64_t row) override {
    row_ = reinterpret_cast<const char*>(block_.values) +
           static_cast<int64_t>(row) * block_.row_stride;
  }
  data::Cell at(size_t column) override {
    double value;
    std::memcpy(&value, row_ + static_cast<int64_t>(column) * block_.column_stride, sizeof value);
    return cell_of(value);
  }

 private:
  DenseBlock block_;
  const char* row_ = nullptr;
};

class SparseCursor final : public data::CellCursor {
 public:
  explicit SparseCursor(const SparseBlock& block) : block_(block), dense_(block.columns) {}
  void seek(uint64_t row) override {
    for (const size_t column : filled_) dense_[column] = 0;
    filled_.clear();
    for (int64_t k = block_.offsets[row]; k < block_.offsets[row + 1]; ++k) {
      const auto column = static_cast<uint64_t>(block_.indices[k]);
      if (column >= dense_.size()) continue;  // Somebody changed it since it was checked.
      dense_[column] += block_.values[k];
      filled_.push_back(column);
    }
  }
  data::Cell at(size_t column) override { return cell_of(dense_[column]); }

 private:
  SparseBlock block_;
  std::vector<double> dense_;
  std::vector<size_t> filled_{};
};

/// Blocks of as many rows, side by side.
class SideBySide final : public data::SparseCells {
 public:
  explicit SideBySide(std::vector<std::shared_ptr<const data::Cells>> blocks)
      : blocks_(std::move(blocks)) {
    for (size_t b = 0; b < blocks_.size(); ++b)
      for (size_t j = 0; j < blocks_[b]->names().size(); ++j) {
        names_.push_back(blocks_[b]->names()[j]);
        places_.emplace_back(b, j);
      }
  }
  const Names& names() const override { return names_; }
  uint64_t rows() const override { return blocks_[0]->rows(); }
  bool sparse(size_t column) const override {
    const auto& [block, place] = places_[column];
    const auto* const cells = dynamic_cast<const data::SparseCells*>(blocks_[block].get());
    return cells != nullptr && cells->sparse(place);
  }
  std::unique_ptr<data::CellCursor> cursor() const override {
    return std::make_unique<Cursor>(*this);
  }

 private:
  class Cursor final : public data::CellCursor {
   public:
    explicit Cursor(const SideBySide& all) : all_(all) {
      for (const auto& block : all.blocks_) cursors_.push_back(block->cursor());
    }
    void seek(uint64_t row) override {
      for (const auto& cursor : cursors_) cursor->seek(row);
    }
    data::Cell at(size_t column) override {
      const auto& [block, place] = all_.places_[column];
      return cursors_[block]->at(place);
    }

   private:
    const SideBySide& all_;
    std::vector<std::unique_ptr<data::CellCursor>> cursors_{};
  };

  std::vector<std::shared_ptr<const data::Cells>> blocks_;
  Names names_{};
  std::vector<std::pair<size_t, size_t>> places_{};
};

Error wrong_block(const std::string& what) {
  return {Code::kInvalid, what, "Give the arrays as include/parley/c.h says."};
}

}  // namespace

Result<std::shared_ptr<const data::Cells>> cells_of(const DenseBlock& block, Names names) {
  if (block.values == nullptr && block.rows > 0 && block.columns > 0)
    return wrong_block("there are no values");
  return std::shared_ptr<const data::Cells>(
      std::make_shared<BlockCells<DenseBlock, DenseCursor>>(block, std::move(names)));
}

Result<std::shared_ptr<const data::Cells>> cells_of(const SparseBlock& block, Names names) {
  if (block.offsets == nullptr) return wrong_block("there are no offsets");
  if (block.offsets[0] < 0) return wrong_block("offsets must not be below 0");
  for (uint64_t i = 0; i < block.rows; ++i)
    if (block.offsets[i] > block.offsets[i + 1]) return wrong_block("offsets must not go down");
  const int64_t end = block.offsets[block.rows];
  if (end > block.offsets[0] && (block.indices == nullptr || block.values == nullptr))
    return wrong_block("there are no indices or no values");
  for (int64_t k = block.offsets[0]; k < end; ++k)
    if (block.indices[k] < 0 || static_cast<uint64_t>(block.indices[k]) >= block.columns)
      return wrong_block("an index lies outside the columns");
  return std::shared_ptr<const data::Cells>(
      std::make_shared<BlockCells<SparseBlock, SparseCursor>>(block, std::move(names)));
}

Result<void> Tables::add(const std::string& table, std::shared_ptr<const data::Cells> block) {
  const auto there = tables_.find(table);
  if (there == tables_.end()) return tables_.emplace(table, std::move(block)), Result<void>();
  if (there->second->rows() != block->rows())
    return wrong_block("table " + printable(table) + " has " +
                       std::to_string(there->second->rows()) + " rows, the new columns have " +
                       std::to_string(block->rows()));
  for (const std::string& name : block->names())
    if (std::find(there->second->names().begin(), there->second->names().end(), name) !=
        there->second->names().end())
      return wrong_block("table " + printable(table) + " has a column " + printable(name) +
                         " already");
  there->second = std::make_shared<SideBySide>(
      std::vector<std::shared_ptr<const data::Cells>>{there->second, std::move(block)});
  return {};
}

Result<std::shared_ptr<const data::Cells>> Tables::find(const std::string& table) const {
  const auto found = tables_.find(table);
  if (found != tables_.end()) return found->second;
  std::string names;
  for (const auto& [name, cells] : tables_) names += (names.empty() ? "" : ", ") + printable(name);
  return Error{Code::kInvalid, "there is no table " + printable(table),
               tables_.empty() ? "Add it before the call." : "There are: " + names + "."};
}

}  // namespace parley::api
