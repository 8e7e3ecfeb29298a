// Included by pass.cc once per instruction set, in a namespace of its own and after its vectors;
// nothing is included here, because inline functions of a header must not be compiled for two
// processors.

constexpr size_t kRows = 6;    // of a tile: with kVectors, as many sums as registers hold
constexpr size_t kBlock = 48;  // rows whose slopes stay in the first cache
static_assert(kChunk % kBlock == 0 && kBlock % kRows == 0);

/// Calls use(std::integral_constant<size_t, N>) for N = size, from 1 to kMost.
template <size_t kMost, class Use>
[[gnu::always_inline]] inline void with_size(size_t size, const Use& use) {
  if constexpr (kMost > 1) {
    if (size < kMost) return with_size<kMost - 1>(size, use);
  }
  use(std::integral_constant<size_t, kMost>());
}

/// sum[m][v] += the sum over k of a[m * a_step + k * a_next] b[k][v]: what both products are.
template <size_t kM, size_t kN, class Real>
[[gnu::always_inline]] inline void multiply(const Real* a, size_t a_step, size_t a_next,
                                            const Real* b, size_t b_next, size_t count,
                                            V<Real> (&sum)[kM][kN]) {
  for (size_t k = 0; k < count; ++k, a += a_next, b += b_next) {
    V<Real> right[kN];
#pragma GCC unroll 8
    for (size_t v = 0; v < kN; ++v) right[v] = load(b + v * kWide<Real>);
#pragma GCC unroll 8
    for (size_t m = 0; m < kM; ++m) {
      const V<Real> left = spread(a[m * a_step]);
#pragma GCC unroll 8
      for (size_t v = 0; v < kN; ++v) sum[m][v] = fused(left, right[v], sum[m][v]);
    }
  }
}

/// The scores of kRows rows, from `first`, with all models of a tile.
template <size_t kN, class Real>
[[gnu::always_inline]] inline void scores(const PackedRows<Real>& rows, size_t chunk, size_t first,
                                          const Real* theta, V<Real> (&score)[kRows][kN]) {
  for (auto& row : score)
    for (V<Real>& value : row) value = spread(Real{0});
  multiply<kRows, kN>(rows.column(chunk, 0) + first, 1, kChunk, theta, kN * kWide<Real>,
                      rows.columns(), score);
}

/// kM coordinates of the gradient, from those of the columns on.
template <size_t kM, size_t kN, class Real>
void combine(const Real* columns, const Real* slopes, Real* gradient) {
  V<Real> sum[kM][kN];
  for (size_t m = 0; m < kM; ++m)
    for (size_t v = 0; v < kN; ++v) sum[m][v] = load(gradient + (m * kN + v) * kWide<Real>);
  multiply<kM, kN>(columns, kChunk, 1, slopes, kN * kWide<Real>, kBlock, sum);
  for (size_t m = 0; m < kM; ++m)
    for (size_t v = 0; v < kN; ++v) store(gradient + (m * kN + v) * kWide<Real>, sum[m][v]);
}

/// All coordinates, in tiles as even as possible.
template <size_t kN, class Real>
void combine_all(size_t p, const Real* columns, const Real* slopes, Real* gradient) {
  const size_t tiles = (p + kRows - 1) / kRows;
  for (size_t t = 0; t < tiles; ++t) {
    const size_t j = p * t / tiles, end = p * (t + 1) / tiles;
    with_size<kRows>(end - j, [&]<size_t kM>(std::integral_constant<size_t, kM>) {
      combine<kM, kN>(columns + j * kChunk, slopes, gradient + j * kN * kWide<Real>);
    });
  }
}

/// gradient += that of one chunk, for a tile of kN vectors of models.
template <size_t kN, class Real, class L>
void add_chunk(const L loss, const PackedRows<Real>& rows, size_t chunk, const Real* theta,
               Real* gradient) {
  alignas(kVectorBytes) Real slopes[kBlock * kN * kWide<Real>];
  const Real *labels = rows.labels(chunk), *limits = rows.limits(chunk);
  for (size_t first = 0; first < rows.size(chunk); first += kBlock) {
    for (size_t i = 0; i < kBlock; i += kRows) {
      V<Real> score[kRows][kN];
      scores<kN>(rows, chunk, first + i, theta, score);
#pragma GCC unroll 8
      for (size_t m = 0; m < kRows; ++m) {
        const V<Real> label = spread(labels[first + i + m]), limit = spread(limits[first + i + m]);
#pragma GCC unroll 8
        for (size_t v = 0; v < kN; ++v)
          store(slopes + ((i + m) * kN + v) * kWide<Real>,
                clamped_slope<Real>(loss, score[m][v], label, limit));
      }
    }
    combine_all<kN>(rows.columns(), rows.column(chunk, 0) + first, slopes, gradient);
  }
}

/// value += the losses of one chunk.
template <size_t kN, class Real, class L>
void add_chunk_values(const L loss, const PackedRows<Real>& rows, size_t chunk, const Real* theta,
                      Real* value) {
  const Real *labels = rows.labels(chunk), *limits = rows.limits(chunk);
  V<Real> sum[kN];
  for (size_t v = 0; v < kN; ++v) sum[v] = load(value + v * kWide<Real>);
  for (size_t i = 0; i < rows.size(chunk); i += kRows) {
    V<Real> score[kRows][kN];
    scores<kN>(rows, chunk, i, theta, score);
    const size_t some = std::min(kRows, rows.size(chunk) - i);
    for (size_t m = 0; m < some; ++m)
      for (size_t v = 0; v < kN; ++v)
        sum[v] = plus(sum[v], value_of<Real>(loss, score[m][v], spread(labels[i + m]),
                                             spread(limits[i + m])));
  }
  for (size_t v = 0; v < kN; ++v) store(value + v * kWide<Real>, sum[v]);
}

/// The slopes of `count` vectors of rows, from row `first` on, for one model.
template <size_t kCount, class Real, class L>
[[gnu::always_inline]] inline void slopes_by_rows(const L& loss, const PackedRows<Real>& rows,
                                                  size_t chunk, size_t first, const Real* theta,
                                                  Real* slopes) {
  V<Real> score[kCount];
  for (V<Real>& value : score) value = spread(Real{0});
  const Real* column = rows.column(chunk, 0) + first;
  for (size_t j = 0; j < rows.columns(); ++j, column += kChunk) {
    const V<Real> factor = spread(theta[j]);
#pragma GCC unroll 8
    for (size_t v = 0; v < kCount; ++v)
      score[v] = fused(load(column + v * kWide<Real>), factor, score[v]);
  }
#pragma GCC unroll 8
  for (size_t v = 0; v < kCount; ++v) {
    const size_t at = first + v * kWide<Real>;
    store(slopes + at, clamped_slope<Real>(loss, score[v], load(rows.labels(chunk) + at),
                                           load(rows.limits(chunk) + at)));
  }
}

/// The lanes added up, always in the same order.
template <class Real>
[[gnu::always_inline]] inline Real total(V<Real> sum) {
  alignas(kVectorBytes) Real lanes[kWide<Real>];
  store(lanes, sum);
  for (size_t half = kWide<Real> / 2; half > 0; half /= 2)
    for (size_t k = 0; k < half; ++k) lanes[k] += lanes[k + half];
  return lanes[0];
}

/// kM coordinates of the gradient of one model.
template <size_t kM, class Real>
void combine_rows(const Real* columns, const Real* slopes, size_t end, Real* gradient) {
  V<Real> sum[kM];
  for (V<Real>& value : sum) value = spread(Real{0});
  for (size_t i = 0; i < end; i += kWide<Real>) {
    const V<Real> slope = load(slopes + i);
#pragma GCC unroll 8
    for (size_t m = 0; m < kM; ++m) sum[m] = fused(load(columns + m * kChunk + i), slope, sum[m]);
  }
  for (size_t m = 0; m < kM; ++m) gradient[m] += total<Real>(sum[m]);
}

/// gradient += that of one chunk, for one model: vectors are rows here.
template <class Real, class L>
void add_chunk_by_rows(const L loss, const PackedRows<Real>& rows, size_t chunk, const Real* theta,
                       Real* gradient) {
  constexpr size_t kAtOnce = 3, kStep = kAtOnce * kWide<Real>;
  static_assert(kChunk % kStep == 0);
  alignas(kVectorBytes) Real slopes[kChunk];
  const size_t p = rows.columns(), tiles = (p + kRows - 1) / kRows;
  const size_t end = (rows.size(chunk) + kStep - 1) / kStep * kStep;  // Zeros follow the last row.
  for (size_t i = 0; i < end; i += kStep)
    slopes_by_rows<kAtOnce>(loss, rows, chunk, i, theta, slopes);
  for (size_t t = 0; t < tiles; ++t) {
    const size_t j = p * t / tiles, next = p * (t + 1) / tiles;
    with_size<kRows>(next - j, [&]<size_t kM>(std::integral_constant<size_t, kM>) {
      combine_rows<kM>(rows.column(chunk, j), slopes, end, gradient + j);
    });
  }
}
