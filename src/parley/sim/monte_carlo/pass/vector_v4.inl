// Vectors of 64 bytes on x86-64-v4: one register each.

template <class Real>
struct VectorOf;
template <>
struct VectorOf<float> {
  using Type = __m512;
};
template <>
struct VectorOf<double> {
  using Type = __m512d;
};
template <class Real>
using V = typename VectorOf<Real>::Type;

constexpr size_t kVectors = 4;  // of models side by side: 24 sums in registers

[[gnu::always_inline]] inline __m512 load(const float* from) { return _mm512_loadu_ps(from); }
[[gnu::always_inline]] inline __m512d load(const double* from) { return _mm512_loadu_pd(from); }
[[gnu::always_inline]] inline void store(float* to, __m512 x) { _mm512_storeu_ps(to, x); }
[[gnu::always_inline]] inline void store(double* to, __m512d x) { _mm512_storeu_pd(to, x); }
[[gnu::always_inline]] inline __m512 spread(float x) { return _mm512_set1_ps(x); }
[[gnu::always_inline]] inline __m512d spread(double x) { return _mm512_set1_pd(x); }
[[gnu::always_inline]] inline __m512 fused(__m512 a, __m512 b, __m512 c) {
  return _mm512_fmadd_ps(a, b, c);
}
[[gnu::always_inline]] inline __m512d fused(__m512d a, __m512d b, __m512d c) {
  return _mm512_fmadd_pd(a, b, c);
}
[[gnu::always_inline]] inline __m512 plus(__m512 a, __m512 b) { return a + b; }
[[gnu::always_inline]] inline __m512d plus(__m512d a, __m512d b) { return a + b; }
[[gnu::always_inline]] inline __m512 minus(__m512 a, __m512 b) { return a - b; }
[[gnu::always_inline]] inline __m512d minus(__m512d a, __m512d b) { return a - b; }
[[gnu::always_inline]] inline __m512 times(__m512 a, __m512 b) { return a * b; }
[[gnu::always_inline]] inline __m512d times(__m512d a, __m512d b) { return a * b; }
/// Never of NaN.
[[gnu::always_inline]] inline __m512 least(__m512 a, __m512 b) {
  return _mm512_maskz_min_ps(0xffff, a, b);
}
[[gnu::always_inline]] inline __m512d least(__m512d a, __m512d b) {
  return _mm512_maskz_min_pd(0xff, a, b);
}
[[gnu::always_inline]] inline __m512 most(__m512 a, __m512 b) {
  return _mm512_maskz_max_ps(0xffff, a, b);
}
[[gnu::always_inline]] inline __m512d most(__m512d a, __m512d b) {
  return _mm512_maskz_max_pd(0xff, a, b);
}
/// x where a < b, else 0.
[[gnu::always_inline]] inline __m512 where_less(__m512 a, __m512 b, __m512 x) {
  return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), x);
}
[[gnu::always_inline]] inline __m512d where_less(__m512d a, __m512d b, __m512d x) {
  return _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(a, b, _CMP_LT_OQ), x);
}
