// Vectors of 64 bytes on x86-64-v3: two registers each.

struct Floats {
  __m256 low, high;
};
struct Doubles {
  __m256d low, high;
};
template <class Real>
struct VectorOf;
template <>
struct VectorOf<float> {
  using Type = Floats;
};
template <>
struct VectorOf<double> {
  using Type = Doubles;
};
template <class Real>
using V = typename VectorOf<Real>::Type;

constexpr size_t kVectors = 1;  // of models side by side: 12 registers of sums

[[gnu::always_inline]] inline V<float> load(const float* from) {
  return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)};
}
[[gnu::always_inline]] inline V<double> load(const double* from) {
  return {_mm256_loadu_pd(from), _mm256_loadu_pd(from + 4)};
}
[[gnu::always_inline]] inline void store(float* to, V<float> x) {
  _mm256_storeu_ps(to, x.low), _mm256_storeu_ps(to + 8, x.high);
}
[[gnu::always_inline]] inline void store(double* to, V<double> x) {
  _mm256_storeu_pd(to, x.low), _mm256_storeu_pd(to + 4, x.high);
}
[[gnu::always_inline]] inline V<float> spread(float x) {
  const __m256 all = _mm256_set1_ps(x);
  return {all, all};
}
[[gnu::always_inline]] inline V<double> spread(double x) {
  const __m256d all = _mm256_set1_pd(x);
  return {all, all};
}
[[gnu::always_inline]] inline V<float> fused(V<float> a, V<float> b, V<float> c) {
  return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
[[gnu::always_inline]] inline V<double> fused(V<double> a, V<double> b, V<double> c) {
  return {_mm256_fmadd_pd(a.low, b.low, c.low), _mm256_fmadd_pd(a.high, b.high, c.high)};
}
template <class Two>
[[gnu::always_inline]] inline Two plus(Two a, Two b) {
  return {a.low + b.low, a.high + b.high};
}
template <class Two>
[[gnu::always_inline]] inline Two minus(Two a, Two b) {
  return {a.low - b.low, a.high - b.high};
}
template <class Two>
[[gnu::always_inline]] inline Two times(Two a, Two b) {
  return {a.low * b.low, a.high * b.high};
}
/// Never of NaN.
[[gnu::always_inline]] inline V<float> least(V<float> a, V<float> b) {
  return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)};
}
[[gnu::always_inline]] inline V<double> least(V<double> a, V<double> b) {
  return {_mm256_min_pd(a.low, b.low), _mm256_min_pd(a.high, b.high)};
}
[[gnu::always_inline]] inline V<float> most(V<float> a, V<float> b) {
  return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)};
}
[[gnu::always_inline]] inline V<double> most(V<double> a, V<double> b) {
  return {_mm256_max_pd(a.low, b.low), _mm256_max_pd(a.high, b.high)};
}
/// x where a < b, else 0.
[[gnu::always_inline]] inline V<float> where_less(V<float> a, V<float> b, V<float> x) {
  return {_mm256_and_ps(_mm256_cmp_ps(a.low, b.low, _CMP_LT_OQ), x.low),
          _mm256_and_ps(_mm256_cmp_ps(a.high, b.high, _CMP_LT_OQ), x.high)};
}
[[gnu::always_inline]] inline V<double> where_less(V<double> a, V<double> b, V<double> x) {
  return {_mm256_and_pd(_mm256_cmp_pd(a.low, b.low, _CMP_LT_OQ), x.low),
          _mm256_and_pd(_mm256_cmp_pd(a.high, b.high, _CMP_LT_OQ), x.high)};
}
