// The vectors of x86-64-v4 for dense.inl: a row's lanes are one of them, and so are the slopes of
// eight rows.

using V = __m512d;
using Integers = __m512i;
constexpr size_t kWidth = 8;
constexpr __mmask8 kFour = 0xf;

[[gnu::always_inline]] inline V load(const double* from) { return _mm512_loadu_pd(from); }
[[gnu::always_inline]] inline V load_four(const double* from) {
  return _mm512_maskz_loadu_pd(kFour, from);
}
[[gnu::always_inline]] inline V spread(double x) { return _mm512_set1_pd(x); }
[[gnu::always_inline]] inline V fused(V a, V b, V c) { return _mm512_fmadd_pd(a, b, c); }
[[gnu::always_inline]] inline V root(V x) { return _mm512_maskz_sqrt_pd(0xff, x); }
[[gnu::always_inline]] inline V magnitude(V x) { return _mm512_abs_pd(x); }

/// Modulo 2^64, which + is not.
[[gnu::always_inline]] inline Integers plus(Integers a, Integers b) {
  return _mm512_add_epi64(a, b);
}
[[gnu::always_inline]] inline void add_to(uint64_t* sum, Integers more) {
  _mm512_storeu_si512(sum, plus(_mm512_loadu_si512(sum), more));
}
[[gnu::always_inline]] inline void add_four(uint64_t* sum, Integers more) {
  const Integers total = plus(_mm512_maskz_loadu_epi64(kFour, sum), more);
  _mm512_mask_storeu_epi64(sum, kFour, total);
}

/// The first two levels of the tree for four rows: two numbers of each, row by row.
[[gnu::always_inline]] inline V upper_tree(V a, V b, V c, V d) {
  const V ab = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) +
               __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
  const V cd = __builtin_shufflevector(c, d, 0, 1, 2, 3, 8, 9, 10, 11) +
               __builtin_shufflevector(c, d, 4, 5, 6, 7, 12, 13, 14, 15);
  return __builtin_shufflevector(ab, cd, 0, 1, 4, 5, 8, 9, 12, 13) +
         __builtin_shufflevector(ab, cd, 2, 3, 6, 7, 10, 11, 14, 15);
}

/// The tree over the lanes of eight rows: the sum of each.
[[gnu::always_inline]] inline V tree(const V (&row)[8][1]) {
  const V low = upper_tree(row[0][0], row[1][0], row[2][0], row[3][0]);
  const V high = upper_tree(row[4][0], row[5][0], row[6][0], row[7][0]);
  return __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14) +
         __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
}
