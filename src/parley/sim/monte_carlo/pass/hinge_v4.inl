// Hinge on x86-64-v4. A packed row is added to the sums or not: an addition under a mask instead of
// a multiplication. Processors have units of their own for additions, so the scores of a block of
// rows and the sums of the block before it are made in one loop.

[[gnu::always_inline]] inline __mmask16 less(__m512 a, __m512 b) {
  return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}
[[gnu::always_inline]] inline __mmask8 less(__m512d a, __m512d b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ);
}
[[gnu::always_inline]] inline __mmask16 load(const __mmask16* from) {
  return _load_mask16(const_cast<__mmask16*>(from));
}
[[gnu::always_inline]] inline __mmask8 load(const __mmask8* from) {
  return _load_mask8(const_cast<__mmask8*>(from));
}
[[gnu::always_inline]] inline void store(__mmask16* to, __mmask16 mask) { _store_mask16(to, mask); }
[[gnu::always_inline]] inline void store(__mmask8* to, __mmask8 mask) { _store_mask8(to, mask); }
[[gnu::always_inline]] inline __m512 plus_where(__mmask16 where, __m512 a, __m512 b) {
  return _mm512_mask_add_ps(a, where, a, b);
}
[[gnu::always_inline]] inline __m512d plus_where(__mmask8 where, __m512d a, __m512d b) {
  return _mm512_mask_add_pd(a, where, a, b);
}

constexpr size_t kTall = 12;  // rows of scores, coordinates of sums: all in registers
static_assert(kChunk % kTall == 0 && kBlock % kTall == 0);

/// Some rows of a chunk, and which of them are short of their margin, by vector of models.
template <class Real>
struct HingeBlock {
  size_t first = 0, rows = 0;  // multiples of kTall
  decltype(less(V<Real>{}, V<Real>{})) is_short[kVectors][kBlock];
};

/// One more coordinate of the scores of kTall rows. A number spread straight from memory, even for
/// one use, is cheaper here than one that is spread into a register first.
template <class Real>
[[gnu::always_inline]] inline void add_to_scores(const Real* column, const Real* theta,
                                                 V<Real> (&score)[kTall]) {
  const V<Real> right = load(theta);
#pragma GCC unroll 12
  for (size_t m = 0; m < kTall; ++m) score[m] = fused(spread(column[m]), right, score[m]);
}

/// One more row of kM coordinates of the sums.
template <size_t kM, class Real, class Mask>
[[gnu::always_inline]] inline void add_to_sums(const Real* columns, const Mask* is_short,
                                               V<Real> (&sum)[kM]) {
  const Mask where = load(is_short);
#pragma GCC unroll 12
  for (size_t m = 0; m < kM; ++m) sum[m] = plus_where(where, sum[m], spread(columns[m * kChunk]));
}

/// Which of kTall rows are short, by their scores over p coordinates, and kM coordinates of the
/// sums over `count` other rows, side by side for as long as both last. Either number may be 0.
/// Vectors of theta and gradient lie `step` apart.
template <size_t kM, class Real, class Mask>
[[gnu::noinline]] void score_and_sum(const Real* rows, size_t p, const Real* theta, size_t step,
                                     const Real* labels, Mask* next_short, const Real* others,
                                     size_t count, const Mask* is_short, Real* gradient) {
  V<Real> score[kTall], sum[kM];
#pragma GCC unroll 12
  for (size_t m = 0; m < kTall; ++m) score[m] = spread(Real{0});
#pragma GCC unroll 12
  for (size_t m = 0; m < kM; ++m) sum[m] = load(gradient + m * step);
  size_t k = 0;
  for (; k < std::min(p, count); ++k) {
    add_to_scores<Real>(rows + k * kChunk, theta + k * step, score);
    add_to_sums<kM>(others + k, is_short + k, sum);
  }
  for (size_t j = k; j < p; ++j) add_to_scores<Real>(rows + j * kChunk, theta + j * step, score);
  for (size_t i = k; i < count; ++i) add_to_sums<kM>(others + i, is_short + i, sum);
#pragma GCC unroll 12
  for (size_t m = 0; m < kM; ++m) store(gradient + m * step, sum[m]);
  if (p > 0)
#pragma GCC unroll 12
    for (size_t m = 0; m < kTall; ++m) store(next_short + m, less(spread(labels[m]), score[m]));
}

/// Scores of block `next` and sums of block `last`, for vector v of the models.
template <class Real>
void hinge_blocks(const PackedRows<Real>& rows, size_t chunk, const Real* theta, size_t step,
                  size_t v, HingeBlock<Real>& next, const HingeBlock<Real>& last, Real* gradient) {
  const size_t p = rows.columns(), groups = next.rows / kTall;
  const size_t tiles = last.rows > 0 ? (p + kTall - 1) / kTall : 0;
  for (size_t t = 0; t < std::max(tiles, groups); ++t) {
    const bool scores = t < groups, sums = t < tiles;
    const size_t row = scores ? next.first + t * kTall : 0;
    const size_t j = sums ? p * t / tiles : 0, end = sums ? p * (t + 1) / tiles : 1;
    with_size<kTall>(end - j, [&]<size_t kM>(std::integral_constant<size_t, kM>) {
      score_and_sum<kM>(rows.column(chunk, 0) + row, scores ? p : 0, theta, step,
                        rows.labels(chunk) + row, next.is_short[v] + t * kTall,
                        rows.column(chunk, j) + last.first, sums ? last.rows : 0, last.is_short[v],
                        gradient + j * step);
    });
  }
}

/// gradient += that of one chunk, for a tile of kN vectors of models.
template <size_t kN, class Real>
void add_chunk(const learn::Hinge, const PackedRows<Real>& rows, size_t chunk, const Real* theta,
               Real* gradient) {
  const size_t p = rows.columns(), all = (rows.size(chunk) + kTall - 1) / kTall * kTall;
  const size_t most = std::min((p + kTall - 1) / kTall * kTall, kBlock);  // as many as coordinates
  HingeBlock<Real> blocks[2];
  for (size_t n = 0; n == 0 || blocks[(n + 1) % 2].rows > 0; ++n) {
    HingeBlock<Real>&next = blocks[n % 2], &last = blocks[(n + 1) % 2];
    next.first = std::min(n * most, all), next.rows = std::min(most, all - next.first);
    for (size_t v = 0; v < kN; ++v)
      hinge_blocks<Real>(rows, chunk, theta + v * kWide<Real>, kN * kWide<Real>, v, next, last,
                         gradient + v * kWide<Real>);
  }
}
