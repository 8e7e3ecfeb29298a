#include "parley/data/rows.h"

#include <cmath>

#include "parley/base/result.h"

namespace parley::data {

void Rows::add(std::span<const double> z, double y) {
  check(z.size() == columns_);
  bool ordinary = std::fabs(y) <= kLargest;  // False for NaN, too.
  for (double value : z) ordinary = ordinary & (std::fabs(value) <= kLargest);
  if (!values_.resize(values_.size() + stride_)) return;
  double* row = values_.data() + values_.size() - stride_;
  for (size_t j = 0; j < columns_; ++j)
    row[j] = ordinary && std::fabs(z[j]) >= kSmallest ? z[j] : 0.0;
  labels_.push_back(ordinary ? y : 0.0);
}

}  // namespace parley::data
