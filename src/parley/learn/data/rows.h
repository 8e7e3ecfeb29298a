// An owner's records, ready for the kernel: dense, row by row, each row padded with zeros to a
// multiple of four columns (half of the kernel's lanes).
#pragma once

#include <cstddef>
#include <span>

#include "parley/base/pages.h"

namespace parley::learn {

/// Numbers of larger size are out of schema; with |theta| <= 1e6 and p <= 4096 no score overflows.
inline constexpr double kLargest = 1e140;
/// Numbers of smaller size are zero, so that no square of one underflows in the kernel's proof.
inline constexpr double kSmallest = 0x1p-500;
inline constexpr size_t kColumnsMax = 4096;
inline constexpr size_t kLanes = 8;

class Rows {
 public:
  explicit Rows(size_t columns)
      : columns_(columns), stride_((columns + kLanes / 2 - 1) / (kLanes / 2) * (kLanes / 2)) {}

  /// Adds one record. One that is not finite, or not of this world, becomes the zero record: it
  /// still counts, contributes nothing, and nobody is told, since an error would reveal it.
  void add(std::span<const double> z, double y);
  /// A record that counts and contributes nothing.
  void add_zero() { values_.resize(values_.size() + stride_), labels_.push_back(0); }
  void reserve(size_t rows) { values_.reserve(rows * stride_), labels_.reserve(rows); }

  size_t size() const { return labels_.size(); }
  size_t columns() const { return columns_; }
  size_t stride() const { return stride_; }
  const double* values() const { return values_.data(); }
  const double* labels() const { return labels_.data(); }
  std::span<const double> row(size_t i) const { return {values() + i * stride_, columns_}; }
  double label(size_t i) const { return labels_[i]; }

 private:
  size_t columns_;
  size_t stride_;
  Pages<double> values_;
  Pages<double> labels_;
};

}  // namespace parley::learn
