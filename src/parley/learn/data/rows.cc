#include "parley/learn/data/rows.h"

#include <cmath>

#include "parley/base/result.h"

namespace parley::learn {

void Rows::add(std::span<const double> z, double y) {
  check(z.size() == columns_);
  bool ordinary = std::fabs(y) <= kLargest;  // False for NaN, too.
  for (double value : z) ordinary = ordinary & (std::fabs(value) <= kLargest);
  for (double value : z) values_.push_back(ordinary && std::fabs(value) >= kSmallest ? value : 0.0);
  values_.resize(values_.size() + stride_ - columns_);
  labels_.push_back(ordinary ? y : 0.0);
}

}  // namespace parley::learn
