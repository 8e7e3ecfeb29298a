// The gradient of a loss whose slope is, for each record, one number or zero: a sum over those records
// that count. The 16 sums over subsets of four records are made once for all models, and each model
// adds one of them instead of four records (the method of four Russians). Included after pass.inl.

constexpr size_t kGroup = 4, kSubsets = 16, kGroups = kBlock / kGroup;

/// By group and subset: the sum of its records' full gradients. `row_of(i)` of 0 .. kBlock - 1.
template <class Real, class Full>
void fill_subsets(const PackedRows<Real>& rows, size_t chunk, size_t first, const Full& full,
                  Real* table) {
  const size_t stride = rows.stride();
  for (size_t group = 0; group < kGroups; ++group, table += kSubsets * stride) {
    std::fill_n(table, stride, Real{0});
    for (size_t k = 0; k < kGroup; ++k) {
      const size_t i = first + group * kGroup + k, half = size_t{1} << k;
      const V<Real> slope = spread(full(i));
      for (size_t j = 0; j < stride; j += kWide<Real>) {
        const V<Real> gradient = times(slope, load(rows.row(chunk, i) + j));
        for (size_t subset = 0; subset < half; ++subset)
          store(table + (subset + half) * stride + j,
                plus(load(table + subset * stride + j), gradient));
      }
    }
  }
}

/// Which subset of each group counts for each model of a tile.
template <size_t kN, class Real>
void find_subsets(const PackedRows<Real>& rows, size_t chunk, size_t first, const Real* theta,
                  int32_t* subsets) {
  alignas(kVectorBytes) Real counts[kBlock * kN * kWide<Real>];
  const V<Real> one = spread(Real{1});
  for (size_t i = 0; i < kBlock; i += kRows) {
    V<Real> score[kRows][kN];
    scores<kN>(rows, chunk, first + i, theta, score);
#pragma GCC unroll 8
    for (size_t m = 0; m < kRows; ++m) {
      const V<Real> label = spread(rows.labels(chunk)[first + i + m]);
      const V<Real> bit = spread(static_cast<Real>(1 << (i + m) % kGroup));
#pragma GCC unroll 8
      for (size_t v = 0; v < kN; ++v)
        store(counts + ((i + m) * kN + v) * kWide<Real>,
              where_less(times(label, score[m][v]), one, bit));
    }
  }
  constexpr size_t kLine = kN * kWide<Real>;
  for (size_t group = 0; group < kGroups; ++group)
    for (size_t at = 0; at < kLine; at += kWide<Real>) {
      const Real* of = counts + group * kGroup * kLine + at;
      store_integers(subsets + group * kLine + at,
                     plus(plus(load(of), load(of + kLine)),
                          plus(load(of + 2 * kLine), load(of + 3 * kLine))));
    }
}

/// Two models at a time, so that one's sum need not wait for the other's.
template <size_t kParts, class Real>
void add_subsets(const Real* table, size_t stride, const int32_t* subsets, size_t models,
                 Real* gradient) {
  for (size_t r = 0; r < models; r += 2) {
    V<Real> sum[2][kParts];
    for (size_t q = 0; q < 2; ++q)
      for (size_t v = 0; v < kParts; ++v)
        sum[q][v] = load(gradient + (r + q) * stride + v * kWide<Real>);
#pragma GCC unroll 4
    for (size_t group = 0; group < kGroups; ++group)
      for (size_t q = 0; q < 2; ++q) {
        const auto subset = static_cast<size_t>(subsets[group * models + r + q]);
        const Real* at = table + (group * kSubsets + subset) * stride;
        for (size_t v = 0; v < kParts; ++v)
          sum[q][v] = plus(sum[q][v], load(at + v * kWide<Real>));
      }
    for (size_t q = 0; q < 2; ++q)
      for (size_t v = 0; v < kParts; ++v)
        store(gradient + (r + q) * stride + v * kWide<Real>, sum[q][v]);
  }
}

/// gradient += that of one chunk, model by model, `stride` apart. `table` has room for all subsets.
template <size_t kN, class Real, class Full>
void add_chunk_by_subsets(const PackedRows<Real>& rows, size_t chunk, const Full& full,
                          const Real* theta, Real* table, Real* gradient) {
  constexpr size_t kModels = kN * kWide<Real>, kTwo = 2 * kWide<Real>;
  const size_t stride = rows.stride();
  int32_t subsets[kGroups * kModels];
  for (size_t first = 0; first < rows.size(chunk); first += kBlock) {
    fill_subsets(rows, chunk, first, full, table);
    find_subsets<kN>(rows, chunk, first, theta, subsets);
    size_t j = 0;
    for (; j + kTwo <= stride; j += kTwo)
      add_subsets<2>(table + j, stride, subsets, kModels, gradient + j);
    if (j < stride) add_subsets<1>(table + j, stride, subsets, kModels, gradient + j);
  }
}
