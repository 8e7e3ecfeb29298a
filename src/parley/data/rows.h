// An owner's records, ready for the kernel: dense, row by row, each row padded with zeros to a
// multiple of four columns (half of the kernel's lanes).
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "parley/base/memory/pages.h"

namespace parley::data {

/// Numbers of larger size are out of schema; with |theta| <= 1e6 and p <= 4096 no score overflows.
inline constexpr double kLargest = 1e140;
/// Numbers of smaller size are zero, so that no square of one underflows in the kernel's proof.
inline constexpr double kSmallest = 0x1p-500;
inline constexpr size_t kColumnsMax = 4096;
inline constexpr size_t kLanes = 8;

class Rows {
 public:
  explicit Rows(size_t columns, const MemoryLimit& limit = {})
      : columns_(columns),
        stride_((columns + kLanes / 2 - 1) / (kLanes / 2) * (kLanes / 2)),
        use_(std::make_shared<MemoryUse>(MemoryUse{limit})) {}

  /// Adds one record. One that is not finite, or not of this world, becomes the zero record: it
  /// still counts, contributes nothing, and nobody is told, since an error would reveal it.
  void add(std::span<const double> z, double y);
  /// A record that counts and contributes nothing.
  void add_zero() {
    if (values_.resize(values_.size() + stride_)) labels_.push_back(0);
  }
  void reserve(size_t rows) { values_.reserve(rows * stride_), labels_.reserve(rows); }

  /// Why records are missing: there was no room for them beyond the memory limit.
  const std::optional<Error>& failure() const { return use_->failure; }

  size_t size() const { return labels_.size(); }
  size_t columns() const { return columns_; }
  size_t stride() const { return stride_; }
  const double* values() const { return values_.data(); }
  const double* labels() const { return labels_.data(); }
  std::span<const double> row(size_t i) const { return {values() + i * stride_, columns_}; }
  double label(size_t i) const { return labels_[i]; }

  /// How many rows to work on before they are released; see by_window.
  size_t window() const {
    return values_.in_file() ? PageMemory::kWindow / (stride_ * sizeof(double)) + 1 : size();
  }
  void release(size_t begin, size_t end) const {
    values_.release(begin * stride_, end * stride_);
    labels_.release(begin, end);
  }

 private:
  size_t columns_;
  size_t stride_;
  std::shared_ptr<MemoryUse> use_;  // of a copy: the original's
  Pages<double> values_{use_};
  Pages<double> labels_{use_};
};

/// Calls work(begin, end) for one part of [begin, end) after another. Where rows lie in a file, no
/// more than a part is held in memory at a time.
template <class AnyRows, class Work>
void by_window(const AnyRows& rows, size_t begin, size_t end, const Work& work) {
  while (begin < end) {
    const size_t next = begin + std::min(end - begin, rows.window());
    work(begin, next);
    rows.release(begin, next);
    begin = next;
  }
}

}  // namespace parley::data
