#include "parley/learn/solver/products.h"

#include <algorithm>
#include <cmath>

#include "parley/base/math/avx2.h"

namespace parley::learn {
namespace {

constexpr size_t kBlock = 64;  // Rows whose products are summed before they join a longer sum.

/// g[r][c] += sum over rows of a_i[r] b_i[c] for 4 x 4 kWide entries.
template <int kWide>
void add_tile(const double* a, const double* b, size_t count, size_t stride, double* g) {
  __m256d sum[4][kWide], right[kWide];
#pragma GCC unroll 8
  for (auto& row : sum)
#pragma GCC unroll 8
    for (auto& part : row) part = _mm256_setzero_pd();
  for (size_t i = 0; i < count; ++i, a += stride, b += stride) {
#pragma GCC unroll 8
    for (int c = 0; c < kWide; ++c) right[c] = _mm256_loadu_pd(b + 4 * c);
#pragma GCC unroll 8
    for (int r = 0; r < 4; ++r) {
      const __m256d left = _mm256_broadcast_sd(a + r);
#pragma GCC unroll 8
      for (int c = 0; c < kWide; ++c) sum[r][c] = _mm256_fmadd_pd(left, right[c], sum[r][c]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < 4; ++r, g += stride)
#pragma GCC unroll 8
    for (int c = 0; c < kWide; ++c)
      _mm256_storeu_pd(g + 4 * c, _mm256_add_pd(_mm256_loadu_pd(g + 4 * c), sum[r][c]));
}

}  // namespace

ProductSum::ProductSum(size_t columns, size_t stride)
    : columns_(columns), stride_(stride), sum_((columns + 3) / 4 * 4 * stride) {}

void ProductSum::add_tiles(const double* scaled, const double* rows, size_t count) {
  for (size_t a = 0; a < columns_; a += 4)
    for (size_t b = a; b < stride_; b += 8) {
      const auto tile = b + 8 <= stride_ ? add_tile<2> : add_tile<1>;
      tile(scaled + a, rows + b, count, stride_, &sum_[a * stride_ + b]);
    }
}

void ProductSum::add(const double* rows, size_t count) {
  for (size_t i = 0; i < count; i += kBlock)
    add_tiles(rows + i * stride_, rows + i * stride_, std::min(kBlock, count - i));
}

void ProductSum::gather(const double* row, double weight) {
  rows_.resize(kBlock * stride_), scaled_.resize(kBlock * stride_);
  double* copy = &rows_[gathered_ * stride_];
  double* scaled = &scaled_[gathered_ * stride_];
  for (size_t j = 0; j < stride_; ++j) copy[j] = row[j], scaled[j] = weight * row[j];
  if (++gathered_ == kBlock) flush();
}

void ProductSum::flush() {
  if (gathered_ > 0) add_tiles(scaled_.data(), rows_.data(), gathered_);
  gathered_ = 0;
}

void ProductSum::add(const double* rows, const double* weights, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (weights[i] != 0) gather(rows + i * stride_, weights[i]);
}

void ProductSum::add(std::span<const uint32_t> at, const double* values, double weight) {
  for (size_t a = 0; a < at.size(); ++a) {
    double* row = &sum_[at[a] * stride_];
    const double factor = weight * values[a];
    for (size_t b = a; b < at.size(); ++b) row[at[b]] += factor * values[b];
  }
}

void ProductSum::add(const ProductSum& other) {
  for (size_t k = 0; k < sum_.size(); ++k) sum_[k] += other.sum_[k];
}

void add_combination(const double* rows, const double* factors, size_t count, size_t stride,
                     double* out) {
  for (size_t i = 0; i < count; ++i) {
    if (factors[i] == 0) continue;
    const double* z = rows + i * stride;
    for (size_t j = 0; j < stride; ++j) out[j] = std::fma(factors[i], z[j], out[j]);
  }
}

void dot_each(const double* rows, size_t count, size_t stride, const double* theta, double* out) {
  for (size_t i = 0; i < count; ++i, rows += stride) {
    __m256d lanes[2] = {};
    size_t j = 0;
    for (; j + 8 <= stride; j += 8)
      for (size_t half = 0; half < 2; ++half)
        lanes[half] = _mm256_fmadd_pd(_mm256_loadu_pd(theta + j + 4 * half),
                                      _mm256_loadu_pd(rows + j + 4 * half), lanes[half]);
    if (j < stride)
      lanes[0] = _mm256_fmadd_pd(_mm256_loadu_pd(theta + j), _mm256_loadu_pd(rows + j), lanes[0]);
    const __m256d sum = lanes[0] + lanes[1];
    out[i] = (sum[0] + sum[2]) + (sum[1] + sum[3]);
  }
}

}  // namespace parley::learn
