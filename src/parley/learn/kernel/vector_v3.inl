// The vectors of x86-64-v3 for dense.inl: a row's lanes are two of them, and the slopes of four
// rows are one.

using V = __m256d;
using Integers = __m256i;
constexpr size_t kWidth = 4;

[[gnu::always_inline]] inline V load(const double* from) { return _mm256_loadu_pd(from); }
[[gnu::always_inline]] inline V load_four(const double* from) { return load(from); }
[[gnu::always_inline]] inline V spread(double x) { return _mm256_set1_pd(x); }
[[gnu::always_inline]] inline V fused(V a, V b, V c) { return _mm256_fmadd_pd(a, b, c); }
[[gnu::always_inline]] inline V root(V x) { return _mm256_sqrt_pd(x); }
[[gnu::always_inline]] inline V magnitude(V x) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x); }

/// Modulo 2^64, which + is not.
[[gnu::always_inline]] inline Integers plus(Integers a, Integers b) {
  return _mm256_add_epi64(a, b);
}
[[gnu::always_inline]] inline void add_to(uint64_t* sum, Integers more) {
  auto* at = reinterpret_cast<__m256i*>(sum);
  _mm256_storeu_si256(at, plus(_mm256_loadu_si256(at), more));
}
[[gnu::always_inline]] inline void add_four(uint64_t* sum, Integers more) { add_to(sum, more); }

/// The tree over the lanes of four rows: the sum of each.
[[gnu::always_inline]] inline V tree(const V (&row)[4][2]) {
  const V a = row[0][0] + row[0][1], b = row[1][0] + row[1][1];
  const V c = row[2][0] + row[2][1], d = row[3][0] + row[3][1];
  const V ab =
      __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
  const V cd =
      __builtin_shufflevector(c, d, 0, 1, 4, 5) + __builtin_shufflevector(c, d, 2, 3, 6, 7);
  return __builtin_shufflevector(ab, cd, 0, 2, 4, 6) + __builtin_shufflevector(ab, cd, 1, 3, 5, 7);
}
