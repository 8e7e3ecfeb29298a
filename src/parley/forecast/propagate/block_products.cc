#include "parley/forecast/propagate/block_products.h"

#include <immintrin.h>

#include <algorithm>

namespace parley::forecast {
namespace {

float sum_of(__m256 lanes) {
  const __m256 halves = lanes + _mm256_permute2f128_ps(lanes, lanes, 1);
  const __m256 pairs = halves + _mm256_shuffle_ps(halves, halves, 0x4E);
  return pairs[0] + pairs[1];
}

/// Of kRows rows at a time, which share what is read of the matrix.
template <int kRows>
void few_forms(const float* z, size_t stride, const float* upper, float* out) {
  __m256 all[kRows];
#pragma GCC unroll 8
  for (auto& one : all) one = _mm256_setzero_ps();
  for (size_t c = 0; c < stride; c += kTogether) {
    __m256 sum[kRows];
#pragma GCC unroll 8
    for (auto& one : sum) one = _mm256_setzero_ps();
    for (size_t j = 0; j < c + kTogether; ++j) {
      const __m256 part = _mm256_loadu_ps(upper + j * stride + c);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r)
        sum[r] = _mm256_fmadd_ps(_mm256_broadcast_ss(z + size_t(r) * stride + j), part, sum[r]);
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
      all[r] = _mm256_fmadd_ps(sum[r], _mm256_loadu_ps(z + size_t(r) * stride + c), all[r]);
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) out[r] = sum_of(all[r]);
}

/// g[r][c] += sum over rows of a_i[r] b_i[c] for 4 x 8 kWide entries.
template <int kWide>
void add_tile(const float* a, const float* b, size_t count, size_t stride, float* g) {
  __m256 sum[4][kWide], right[kWide];
#pragma GCC unroll 8
  for (auto& row : sum)
#pragma GCC unroll 8
    for (auto& part : row) part = _mm256_setzero_ps();
  for (size_t i = 0; i < count; ++i, a += stride, b += stride) {
#pragma GCC unroll 8
    for (int c = 0; c < kWide; ++c) right[c] = _mm256_loadu_ps(b + 8 * c);
#pragma GCC unroll 8
    for (int r = 0; r < 4; ++r) {
      const __m256 left = _mm256_broadcast_ss(a + r);
#pragma GCC unroll 8
      for (int c = 0; c < kWide; ++c) sum[r][c] = _mm256_fmadd_ps(left, right[c], sum[r][c]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < 4; ++r, g += stride)
#pragma GCC unroll 8
    for (int c = 0; c < kWide; ++c)
      _mm256_storeu_ps(g + 8 * c, _mm256_add_ps(_mm256_loadu_ps(g + 8 * c), sum[r][c]));
}

constexpr size_t kCached = 64;  // Rows of which two copies stay in the nearest cache.

void add_products(const FloatRows& rows, const float* weights, float* scratch, float* sum) {
  const size_t stride = rows.stride;
  for (size_t i = 0; i < rows.count; ++i) {
    const __m256 weight = _mm256_broadcast_ss(weights + i);
    for (size_t j = i * stride; j < (i + 1) * stride; j += kTogether)
      _mm256_storeu_ps(scratch + j, weight * _mm256_loadu_ps(rows.values + j));
  }
  for (size_t a = 0; a < stride; a += 4)
    for (size_t b = a / kTogether * kTogether; b < stride; b += 2 * kTogether) {
      const auto tile = b + 2 * kTogether <= stride ? add_tile<2> : add_tile<1>;
      tile(scratch + a, rows.values + b, rows.count, stride, sum + a * stride + b);
    }
}

}  // namespace

void quadratic_forms(const FloatRows& rows, const float* upper, float* out) {
  size_t i = 0;
  for (; i + 8 <= rows.count; i += 8)
    few_forms<8>(rows.values + i * rows.stride, rows.stride, upper, out + i);
  for (; i < rows.count; ++i)
    few_forms<1>(rows.values + i * rows.stride, rows.stride, upper, out + i);
}

void add_weighted_products(const FloatRows& rows, const float* weights, float* scratch,
                           float* sum) {
  for (size_t i = 0; i < rows.count; i += kCached) {
    const size_t count = std::min(kCached, rows.count - i);
    add_products({rows.values + i * rows.stride, count, rows.stride}, weights + i, scratch, sum);
  }
}

}  // namespace parley::forecast
