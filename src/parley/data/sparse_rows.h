// An owner's records of which most features are zero: only the other features are stored, row by
// row (CSR). If all stored values of a record are 1, as with categories, they take no memory,
// because all such records share one array of ones. This is decided for each record alone, so no
// record changes how another one is stored, nor how long a pass over it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "parley/base/memory/pages.h"
#include "parley/data/rows.h"

namespace parley::data {

class SparseRows {
 public:
  explicit SparseRows(size_t columns, const MemoryLimit& limit = {})
      : columns_(columns), use_(std::make_shared<MemoryUse>(MemoryUse{limit})) {
    offsets_.push_back(0), value_offsets_.push_back(0);
  }

  /// Adds one record: its values in the columns `at`, which go up; all others are zero. As with
  /// Rows::add, one that is not of this world becomes the zero record, and tiny values are zero.
  void add(std::span<const uint32_t> at, std::span<const double> values, double y);
  void add_zero() { end_record(0); }

  const std::optional<Error>& failure() const { return use_->failure; }  // as Rows::failure

  size_t size() const { return labels_.size(); }
  size_t columns() const { return columns_; }
  size_t nonzeros() const { return indices_.size(); }
  bool all_ones() const { return values_.size() == 0; }
  size_t bytes() const {
    return sizeof(double) * (values_.size() + labels_.size()) + sizeof(uint32_t) * nonzeros() +
           sizeof(uint64_t) * (offsets_.size() + value_offsets_.size());
  }
  const uint32_t* indices() const { return indices_.data(); }  // nonzeros(), from 0, up in a row
  const uint64_t* offsets() const { return offsets_.data(); }  // size() + 1
  const double* labels() const { return labels_.data(); }

  std::span<const double> row_values(size_t i) const {
    const bool ones = value_offsets_[i] == value_offsets_[i + 1];
    return {ones ? ones_.data() : values_.data() + value_offsets_[i],
            offsets_[i + 1] - offsets_[i]};
  }
  std::span<const uint32_t> row_indices(size_t i) const {
    return {indices() + offsets_[i], offsets_[i + 1] - offsets_[i]};
  }
  double label(size_t i) const { return labels_[i]; }

  size_t window() const;
  void release(size_t begin, size_t end) const;

  Rows dense() const;

 private:
  void end_record(double y);

  size_t columns_;
  std::shared_ptr<MemoryUse> use_;
  std::vector<double> ones_{};  // as many as the longest record of ones has
  Pages<double> values_{use_};  // of the other records
  Pages<uint32_t> indices_{use_};
  Pages<uint64_t> offsets_{use_};        // of a record's indices
  Pages<uint64_t> value_offsets_{use_};  // of its values; for ones there are none
  Pages<double> labels_{use_};
};

}  // namespace parley::data
