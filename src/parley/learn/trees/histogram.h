// Sums of derivatives per bin, in integers: no sum depends on the order of its terms, hence on the
// number of threads, and the sums of a node are exactly those of its two children together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parley/learn/trees/bins.h"

namespace parley::learn {

/// First and second derivative of the loss by the score, for every row, in fixed point. `unit` is
/// the power of two that 1 stands for, such that no sum over all rows overflows: of the
/// largest slope 31 bits are kept at least, and 45 where there are 100,000 rows.
struct Derivatives {
  std::vector<int64_t> slope{}, curvature{};
  double slope_unit = 1, curvature_unit = 1;
};

/// `values` as multiples of the returned unit.
double to_fixed_point(std::span<const double> values, std::vector<int64_t>& fixed);

/// Over some rows.
struct Sum {
  int64_t slope = 0, curvature = 0, rows = 0;
  Sum& operator+=(const Sum& other);
  Sum& operator-=(const Sum& other);
  bool operator==(const Sum&) const = default;
};

/// A sum for each bin of each column.
class Histogram {
 public:
  explicit Histogram(const Bins& bins);

  /// Adds these rows; constant columns stay 0. Columns are divided among the threads.
  void add(const Bins& bins, const Derivatives& derivatives, std::span<const uint32_t> rows,
           int threads);
  Histogram& operator-=(const Histogram& other);

  size_t size() const { return sums_.size(); }
  std::span<const Sum> column(size_t j) const {
    return {sums_.data() + begin_[j], begin_[j + 1] - begin_[j]};
  }

 private:
  std::vector<size_t> begin_;  // of each column in sums_, and the end
  std::vector<Sum> sums_;
};

Sum sum_of(const Derivatives& derivatives, std::span<const uint32_t> rows);

/// Threads that are worth starting for so many steps of a few nanoseconds each.
int worthwhile(int threads, size_t steps);

}  // namespace parley::learn
