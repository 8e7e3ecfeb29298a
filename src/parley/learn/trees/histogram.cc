#include "parley/learn/trees/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "parley/base/memory/parallel.h"

namespace parley::learn {

double to_fixed_point(std::span<const double> values, std::vector<int64_t>& fixed) {
  double largest = 0;
  for (const double value : values) largest = std::fmax(largest, std::fabs(value));
  int exponent = 0;
  std::frexp(largest, &exponent);       // largest < 2^exponent
  exponent = std::max(exponent, -900);  // so that the scale is finite
  const int bits = 62 - static_cast<int>(std::bit_width(values.size()));
  const double scale = std::ldexp(1.0, bits - exponent);
  fixed.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    fixed[i] = static_cast<int64_t>(std::nearbyint(values[i] * scale));
  return std::ldexp(1.0, exponent - bits);
}

Sum& Sum::operator+=(const Sum& other) {
  slope += other.slope, curvature += other.curvature, rows += other.rows;
  return *this;
}

Sum& Sum::operator-=(const Sum& other) {
  slope -= other.slope, curvature -= other.curvature, rows -= other.rows;
  return *this;
}

Histogram::Histogram(const Bins& bins) : begin_{0} {
  for (size_t j = 0; j < bins.columns(); ++j) begin_.push_back(begin_.back() + bins.bins(j));
  sums_.resize(begin_.back());
}

void Histogram::add(const Bins& bins, const Derivatives& derivatives,
                    std::span<const uint32_t> rows, int threads) {
  std::vector<Sum> terms(rows.size());  // side by side, since every column reads them all
  for (size_t k = 0; k < rows.size(); ++k)
    terms[k] = {derivatives.slope[rows[k]], derivatives.curvature[rows[k]], 1};
  const auto add_columns = [&](size_t, size_t first, size_t last) {
    for (size_t j = first; j < last; ++j) {
      if (bins.bins(j) == 1) continue;
      const uint8_t* index = bins.column(j).data();
      Sum* sums = sums_.data() + begin_[j];
      for (size_t k = 0; k < rows.size(); ++k) sums[index[rows[k]]] += terms[k];
    }
  };
  in_parallel(worthwhile(threads, rows.size() * bins.columns()), bins.columns(), add_columns);
}

Histogram& Histogram::operator-=(const Histogram& other) {
  for (size_t k = 0; k < sums_.size(); ++k) sums_[k] -= other.sums_[k];
  return *this;
}

Sum sum_of(const Derivatives& derivatives, std::span<const uint32_t> rows) {
  Sum sum;
  for (const uint32_t row : rows) sum += {derivatives.slope[row], derivatives.curvature[row], 1};
  return sum;
}

int worthwhile(int threads, size_t steps) {
  constexpr size_t kStepsPerThread = 100'000;  // Starting a thread takes some 20 microseconds.
  return static_cast<int>(
      std::min<size_t>(static_cast<size_t>(std::max(threads, 1)), 1 + steps / kStepsPerThread));
}

}  // namespace parley::learn
