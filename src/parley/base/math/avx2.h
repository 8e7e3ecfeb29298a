// AVX2 by its own names on every processor. On x86-64 this is the compiler's header. Elsewhere it
// is the part of it that the library uses, in the compiler's own vectors: each function rounds as
// often as the instruction it is named after, so that results have the same bits (scripts/check
// arm64).
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#else

#include <cmath>
#include <cstdint>
#include <cstring>

#define PARLEY_INLINE [[gnu::always_inline]] inline

using __m128d __attribute__((vector_size(16), may_alias)) = double;
using __m128i __attribute__((vector_size(16), may_alias)) = long long;
using __m256d __attribute__((vector_size(32), may_alias)) = double;
using __m256 __attribute__((vector_size(32), may_alias)) = float;
using __m256i __attribute__((vector_size(32), may_alias)) = long long;

namespace parley::avx2 {

using Bytes __attribute__((vector_size(32), may_alias)) = uint8_t;
using Words __attribute__((vector_size(32), may_alias)) = uint64_t;

template <class V>
PARLEY_INLINE V read(const void* from) {
  V x;
  std::memcpy(&x, from, sizeof x);
  return x;
}
template <class V>
PARLEY_INLINE V fused(V a, V b, V c) {
  for (size_t k = 0; k < sizeof(V) / sizeof(a[0]); ++k) c[k] = std::fma(a[k], b[k], c[k]);
  return c;
}

}  // namespace parley::avx2

PARLEY_INLINE __m128d _mm_set1_pd(double x) { return __m128d{x, x}; }
PARLEY_INLINE __m128i _mm_set_epi64x(int64_t high, int64_t low) { return __m128i{low, high}; }
PARLEY_INLINE __m128d _mm_castsi128_pd(__m128i x) { return reinterpret_cast<__m128d>(x); }
PARLEY_INLINE __m128d _mm_loaddup_pd(const double* from) { return __m128d{*from, *from}; }
PARLEY_INLINE __m128d _mm_loadl_pd(__m128d x, const double* from) { return __m128d{*from, x[1]}; }
PARLEY_INLINE __m128d _mm_and_pd(__m128d a, __m128d b) {
  return reinterpret_cast<__m128d>(reinterpret_cast<__m128i>(a) & reinterpret_cast<__m128i>(b));
}
PARLEY_INLINE __m128d _mm_fmadd_pd(__m128d a, __m128d b, __m128d c) {
  return parley::avx2::fused(a, b, c);
}

PARLEY_INLINE __m256d _mm256_setzero_pd() { return __m256d{}; }
PARLEY_INLINE __m256d _mm256_set1_pd(double x) { return __m256d{x, x, x, x}; }
PARLEY_INLINE __m256d _mm256_broadcast_sd(const double* from) { return _mm256_set1_pd(*from); }
PARLEY_INLINE __m256d _mm256_loadu_pd(const double* from) {
  return parley::avx2::read<__m256d>(from);
}
PARLEY_INLINE void _mm256_storeu_pd(double* to, __m256d x) { std::memcpy(to, &x, sizeof x); }
PARLEY_INLINE __m256d _mm256_add_pd(__m256d a, __m256d b) { return a + b; }
PARLEY_INLINE __m256d _mm256_min_pd(__m256d a, __m256d b) { return a < b ? a : b; }
PARLEY_INLINE __m256d _mm256_max_pd(__m256d a, __m256d b) { return a > b ? a : b; }
PARLEY_INLINE __m256d _mm256_fmadd_pd(__m256d a, __m256d b, __m256d c) {
  return parley::avx2::fused(a, b, c);
}
PARLEY_INLINE __m256d _mm256_sqrt_pd(__m256d x) {
  return __m256d{std::sqrt(x[0]), std::sqrt(x[1]), std::sqrt(x[2]), std::sqrt(x[3])};
}
PARLEY_INLINE __m256d _mm256_andnot_pd(__m256d a, __m256d b) {
  return reinterpret_cast<__m256d>(~reinterpret_cast<__m256i>(a) & reinterpret_cast<__m256i>(b));
}

PARLEY_INLINE __m256 _mm256_setzero_ps() { return __m256{}; }
PARLEY_INLINE __m256 _mm256_set1_ps(float x) { return __m256{x, x, x, x, x, x, x, x}; }
PARLEY_INLINE __m256 _mm256_broadcast_ss(const float* from) { return _mm256_set1_ps(*from); }
PARLEY_INLINE __m256 _mm256_loadu_ps(const float* from) { return parley::avx2::read<__m256>(from); }
PARLEY_INLINE void _mm256_storeu_ps(float* to, __m256 x) { std::memcpy(to, &x, sizeof x); }
PARLEY_INLINE __m256 _mm256_add_ps(__m256 a, __m256 b) { return a + b; }
PARLEY_INLINE __m256 _mm256_min_ps(__m256 a, __m256 b) { return a < b ? a : b; }
PARLEY_INLINE __m256 _mm256_max_ps(__m256 a, __m256 b) { return a > b ? a : b; }
PARLEY_INLINE __m256 _mm256_fmadd_ps(__m256 a, __m256 b, __m256 c) {
  return parley::avx2::fused(a, b, c);
}

constexpr int _CMP_LT_OQ = 17;
PARLEY_INLINE __m256d _mm256_cmp_pd(__m256d a, __m256d b, [[maybe_unused]] int less) {
  return reinterpret_cast<__m256d>(a < b);
}
PARLEY_INLINE __m256 _mm256_cmp_ps(__m256 a, __m256 b, [[maybe_unused]] int less) {
  return reinterpret_cast<__m256>(a < b);
}
PARLEY_INLINE __m256d _mm256_and_pd(__m256d a, __m256d b) {
  return reinterpret_cast<__m256d>(reinterpret_cast<__m256i>(a) & reinterpret_cast<__m256i>(b));
}
PARLEY_INLINE __m256 _mm256_and_ps(__m256 a, __m256 b) {
  return reinterpret_cast<__m256>(reinterpret_cast<__m256i>(a) & reinterpret_cast<__m256i>(b));
}

PARLEY_INLINE __m256i _mm256_loadu_si256(const __m256i* from) {
  return parley::avx2::read<__m256i>(from);
}
PARLEY_INLINE void _mm256_storeu_si256(__m256i* to, __m256i x) { std::memcpy(to, &x, sizeof x); }
PARLEY_INLINE __m256i _mm256_or_si256(__m256i a, __m256i b) { return a | b; }
PARLEY_INLINE __m256i _mm256_add_epi64(__m256i a, __m256i b) {
  using parley::avx2::Words;
  return reinterpret_cast<__m256i>(reinterpret_cast<Words>(a) + reinterpret_cast<Words>(b));
}
PARLEY_INLINE __m256i _mm256_set1_epi8(char x) {
  return reinterpret_cast<__m256i>(parley::avx2::Bytes{} + static_cast<uint8_t>(x));
}
PARLEY_INLINE __m256i _mm256_sub_epi8(__m256i a, __m256i b) {
  using parley::avx2::Bytes;
  return reinterpret_cast<__m256i>(reinterpret_cast<Bytes>(a) - reinterpret_cast<Bytes>(b));
}
PARLEY_INLINE __m256i _mm256_min_epu8(__m256i a, __m256i b) {
  const auto x = reinterpret_cast<parley::avx2::Bytes>(a),
             y = reinterpret_cast<parley::avx2::Bytes>(b);
  return reinterpret_cast<__m256i>(x < y ? x : y);
}
PARLEY_INLINE __m256i _mm256_cmpeq_epi8(__m256i a, __m256i b) {
  using parley::avx2::Bytes;
  return reinterpret_cast<__m256i>(reinterpret_cast<Bytes>(a) == reinterpret_cast<Bytes>(b));
}
PARLEY_INLINE int _mm256_movemask_epi8(__m256i x) {
  const auto bytes = reinterpret_cast<parley::avx2::Bytes>(x);
  uint32_t mask = 0;
  for (unsigned k = 0; k < 32; ++k) mask |= uint32_t{bytes[k]} >> 7 << k;
  return static_cast<int>(mask);
}

#undef PARLEY_INLINE
#endif
