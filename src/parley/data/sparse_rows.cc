#include "parley/data/sparse_rows.h"

#include <cmath>

#include "parley/base/result.h"

namespace parley::data {

void SparseRows::add(std::span<const uint32_t> at, std::span<const double> values, double y) {
  check(at.size() == values.size() && (at.empty() || at.back() < columns_));
  bool ordinary = std::fabs(y) <= kLargest;  // False for NaN, too.
  for (double value : values) ordinary = ordinary & (std::fabs(value) <= kLargest);
  if (!ordinary) return add_zero();
  bool ones = true;
  for (double value : values) ones = ones & (value == 1 || std::fabs(value) < kSmallest);
  if (ones && ones_.size() < values.size()) ones_.resize(values.size(), 1);
  for (size_t i = 0; i < at.size(); ++i) {
    check(i == 0 || at[i - 1] < at[i]);
    if (std::fabs(values[i]) < kSmallest) continue;
    indices_.push_back(at[i]);
    if (!ones) values_.push_back(values[i]);
  }
  end_record(y);
}

void SparseRows::end_record(double y) {
  offsets_.push_back(indices_.size());
  value_offsets_.push_back(values_.size());
  labels_.push_back(y);
}

size_t SparseRows::window() const {
  if (!values_.in_file() && !indices_.in_file()) return size();
  return size() / (bytes() / PageMemory::kWindow + 1) + 1;
}

void SparseRows::release(size_t begin, size_t end) const {
  values_.release(value_offsets_[begin], value_offsets_[end]);
  value_offsets_.release(begin, end);
  indices_.release(offsets_[begin], offsets_[end]);
  offsets_.release(begin, end);
  labels_.release(begin, end);
}

Rows SparseRows::dense() const {
  Rows rows(columns_);
  std::vector<double> z(columns_);
  for (size_t i = 0; i < size(); ++i) {
    const auto values = row_values(i);
    const auto at = row_indices(i);
    for (size_t k = 0; k < at.size(); ++k) z[at[k]] = values[k];
    rows.add(z, label(i));
    for (uint32_t j : at) z[j] = 0;
  }
  return rows;
}

}  // namespace parley::data
