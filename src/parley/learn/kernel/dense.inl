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

/// The slopes of a block of records, clipped, in lattice units.
template <class L, class Norm>
[[gnu::always_inline]] inline void clipped_slopes(const L loss, const DensePass& pass,
                                                  const V* score, const V* norm, const double* y,
                                                  double* slope) {
  alignas(32) double scores[kBlock];
  for (size_t k = 0; k < kBlock; k += 4) _mm256_store_pd(scores + k, tree_of_four(score + k));
  for (size_t k = 0; k < kBlock; ++k) slope[k] = loss.slope(scores[k], y[k]);  // Vectorised.
  const V zero{}, largest = zero + std::numeric_limits<double>::max();
  for (size_t k = 0; k < kBlock; k += 4) {
    V size = tree_of_four(norm + k);
    if constexpr (std::is_same_v<Norm, L2>) size = _mm256_sqrt_pd(size);
    V s = _mm256_load_pd(slope + k);
    s = magnitude(s) <= largest ? s : zero;
    const V limit = size > zero ? pass.clip / size : zero;
    s = s > limit ? limit : s;
    s = s < -limit ? -limit : s;
    _mm256_store_pd(slope + k, s * pass.inverse_gamma);
  }
}

/// The block's gradients added to the sums, each with kShift's bits on top.
[[gnu::always_inline]] inline void add_block(const DensePass& pass, const double* z,
                                             const double* slope, uint64_t* sum) {
  const V shift = V{} + kShift;
  for (size_t k = 0; k < kBlock; k += 4) {
    const V s[4] = {V{} + slope[k], V{} + slope[k + 1], V{} + slope[k + 2], V{} + slope[k + 3]};
    const double* row = z + k * pass.stride;
    for (size_t j = 0; j < pass.stride; j += 4) {
      __m256i total = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(sum + j));
      for (size_t i = 0; i < 4; ++i) {
        const V value = _mm256_loadu_pd(row + i * pass.stride + j);
        total = _mm256_add_epi64(total,
                                 _mm256_castpd_si256(_mm256_fmadd_pd(s[i], value, shift)));
      }
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(sum + j), total);
    }
  }
}

/// Loss and pass by value: the compiler then knows that no store changes them.
template <class L, class Norm>
void dense_pass(const L loss, const DensePass pass, const double* z, const double* y, size_t rows,
                uint64_t* sum) {
  for (size_t i = 0; i < rows; i += kBlock) {
    const double* block = z + i * pass.stride;
    V score[kBlock], norm[kBlock];
    for (size_t k = 0; k < kBlock; ++k)
      fold<Norm>(pass.theta, block + k * pass.stride, pass.stride, score[k], norm[k]);
    alignas(32) double slope[kBlock];
    clipped_slopes<L, Norm>(loss, pass, score, norm, y + i, slope);
    if constexpr (kCheckRecords) check_block<Norm>(pass, block, slope);
    add_block(pass, block, slope, sum);
  }
}
