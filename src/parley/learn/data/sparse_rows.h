// An owner's records of which most features are zero: row by row, only what is not (CSR).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "parley/base/pages.h"
#include "parley/learn/data/rows.h"

namespace parley::learn {

class SparseRows {
 public:
  explicit SparseRows(size_t columns) : columns_(columns) { offsets_.push_back(0); }

  /// Adds one record: its values in the columns `at`, which go up; all others are zero. As with
  /// Rows::add, one that is not of this world becomes the zero record, and tiny values are zero.
  void add(std::span<const uint32_t> at, std::span<const double> values, double y);
  void add_zero() { offsets_.push_back(values_.size()), labels_.push_back(0); }

  size_t size() const { return labels_.size(); }
  size_t columns() const { return columns_; }
  size_t nonzeros() const { return values_.size(); }
  const double* values() const { return values_.data(); }      // nonzeros()
  const uint32_t* indices() const { return indices_.data(); }  // nonzeros(), from 0, up in a row
  const uint64_t* offsets() const { return offsets_.data(); }  // size() + 1
  const double* labels() const { return labels_.data(); }

  std::span<const double> row_values(size_t i) const {
    return {values() + offsets_[i], offsets_[i + 1] - offsets_[i]};
  }
  std::span<const uint32_t> row_indices(size_t i) const {
    return {indices() + offsets_[i], offsets_[i + 1] - offsets_[i]};
  }
  double label(size_t i) const { return labels_[i]; }

  Rows dense() const;

 private:
  size_t columns_;
  Pages<double> values_{};
  Pages<uint32_t> indices_{};
  Pages<uint64_t> offsets_{};
  Pages<double> labels_{};
};

}  // namespace parley::learn
