// Included by kernel.cc once per instruction set, in a namespace of its own; nothing is included
// here, because inline functions of a header must not be compiled for two processors.

template <class Norm>
[[gnu::always_inline]] inline V grown(V size, V z) {
  if constexpr (std::is_same_v<Norm, L1>) return size + magnitude(z);
  else return _mm256_fmadd_pd(z, z, size);
}

/// Sums over a row go lane by lane (record_map.h): lanes 0-3 and 4-7, then the first level of the
/// tree. Row after row, because memory is fetched ahead for one stream better than for two.
template <class Norm>
[[gnu::always_inline]] inline void fold(const double* theta, const double* z, size_t stride,
                                        V& score, V& norm) {
  V s[2] = {}, n[2] = {};
  size_t j = 0;
  for (; j + 8 <= stride; j += 8)
    for (size_t half = 0; half < 2; ++half) {
      const V value = _mm256_loadu_pd(z + j + 4 * half);
      s[half] = _mm256_fmadd_pd(_mm256_loadu_pd(theta + j + 4 * half), value, s[half]);
      n[half] = grown<Norm>(n[half], value);
    }
  if (j < stride) {
    const V value = _mm256_loadu_pd(z + j);
    s[0] = _mm256_fmadd_pd(_mm256_loadu_pd(theta + j), value, s[0]);
    n[0] = grown<Norm>(n[0], value);
  }
  score = s[0] + s[1];
  norm = n[0] + n[1];
}

/// The last two levels of the tree, for four rows: (l0 + l2) + (l1 + l3) of each.
[[gnu::always_inline]] inline V tree_of_four(const V* rows) {
  const V a = _mm256_unpacklo_pd(rows[0], rows[1]), b = _mm256_unpackhi_pd(rows[0], rows[1]);
  const V c = _mm256_unpacklo_pd(rows[2], rows[3]), d = _mm256_unpackhi_pd(rows[2], rows[3]);
  const V l0 = _mm256_permute2f128_pd(a, c, 0x20), l2 = _mm256_permute2f128_pd(a, c, 0x31);
  const V l1 = _mm256_permute2f128_pd(b, d, 0x20), l3 = _mm256_permute2f128_pd(b, d, 0x31);
  return (l0 + l2) + (l1 + l3);
}

/// The slopes of four records, clipped, in lattice units.
template <class L, class Norm>
[[gnu::always_inline]] inline V clipped_slopes(const L& loss, const DensePass& pass, V score,
                                               V label, V norm) {
  const V zero{}, largest = zero + std::numeric_limits<double>::max();
  if constexpr (std::is_same_v<Norm, L2>) norm = _mm256_sqrt_pd(norm);
  alignas(32) double scores[4], labels[4], slopes[4];
  _mm256_store_pd(scores, score), _mm256_store_pd(labels, label);
  for (int k = 0; k < 4; ++k) slopes[k] = loss.slope(scores[k], labels[k]);  // Vectorised.
  V slope = _mm256_load_pd(slopes);
  slope = magnitude(slope) <= largest ? slope : zero;
  const V limit = norm > zero ? pass.clip / norm : zero;
  slope = slope > limit ? limit : slope;
  slope = slope < -limit ? -limit : slope;
  return slope * pass.inverse_gamma;
}

/// Four rows' gradients added to the sums, each with kShift's bits on top.
template <class Norm>
[[gnu::always_inline]] inline void add_four(const DensePass& pass, const double* const* row,
                                            const double* slope, uint64_t* sum) {
  const V shift = V{} + kShift;
  V s[4];
  for (int k = 0; k < 4; ++k) s[k] = V{} + slope[k];
  for (size_t j = 0; j < pass.stride; j += 4) {
    __m256i total = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(sum + j));
    for (int k = 0; k < 4; ++k) {
      const V rounded = _mm256_fmadd_pd(s[k], _mm256_loadu_pd(row[k] + j), shift);
      total = _mm256_add_epi64(total, _mm256_castpd_si256(rounded));
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sum + j), total);
  }
}

template <class L, class Norm>
void dense_pass(const L& loss, const DensePass& pass, const double* z, const double* y,
                size_t rows, uint64_t* sum) {
  for (size_t i = 0; i < rows; i += 4) {
    const double* const row[4] = {z + i * pass.stride, z + (i + 1) * pass.stride,
                                  z + (i + 2) * pass.stride, z + (i + 3) * pass.stride};
    V score[4], norm[4];
    for (int k = 0; k < 4; ++k) fold<Norm>(pass.theta, row[k], pass.stride, score[k], norm[k]);
    const V slopes = clipped_slopes<L, Norm>(loss, pass, tree_of_four(score),
                                             _mm256_loadu_pd(y + i), tree_of_four(norm));
    alignas(32) double slope[4];
    _mm256_store_pd(slope, slopes);
    if constexpr (kCheckRecords) check_four<Norm>(pass, row, slope);
    add_four<Norm>(pass, row, slope, sum);
  }
}
