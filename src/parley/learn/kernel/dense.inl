// Included by kernel.cc once per instruction set, in a namespace of its own and after its vectors;
// nothing is included here, because inline functions of a header must not be compiled for two
// processors.

/// Records that are worked on together: one vector of slopes.
constexpr size_t kBlock = kWidth;
constexpr size_t kParts = data::kLanes / kWidth;  // of a row's lanes

/// In a register: the compiler would load it once for each use, and loads are what is scarce.
[[gnu::always_inline]] inline V kept(V x) {
#if defined(__x86_64__)
  asm("" : "+v"(x));
#endif
  return x;
}

template <class Norm>
[[gnu::always_inline]] inline void grow(V theta, V z, V& score, V& norm) {
  score = fused(theta, z, score);
  if constexpr (std::is_same_v<Norm, L1>)
    norm += magnitude(z);
  else
    norm = fused(z, z, norm);
}

/// What the lanes of a norm sum up to, as a norm.
template <class Norm>
[[gnu::always_inline]] inline V length(V sum) {
  if constexpr (std::is_same_v<Norm, L2>)
    return root(sum);
  else
    return sum;
}

/// The sums over a row, lane by lane (record_map.h). Row after row, because memory is fetched ahead
/// for one stream better than for two.
template <class Norm>
[[gnu::always_inline]] inline void fold(const double* theta, const double* z, size_t stride,
                                        V (&score)[kParts], V (&norm)[kParts]) {
  V s[kParts] = {}, n[kParts] = {};
  size_t j = 0;
  for (; j + data::kLanes <= stride; j += data::kLanes)
    for (size_t part = 0; part < kParts; ++part) {
      const size_t at = j + part * kWidth;
      grow<Norm>(load(theta + at), kept(load(z + at)), s[part], n[part]);
    }
  if (j < stride) grow<Norm>(load_four(theta + j), kept(load_four(z + j)), s[0], n[0]);
  for (size_t part = 0; part < kParts; ++part) score[part] = s[part], norm[part] = n[part];
}

/// The scores and norms of a block of records.
template <class Norm>
[[gnu::always_inline]] inline void fold_block(const Pass& pass, const double* z, V& score,
                                              V& norm) {
  V scores[kBlock][kParts], norms[kBlock][kParts];
#pragma GCC unroll 8  // So that all of them stay in registers.
  for (size_t k = 0; k < kBlock; ++k)
    fold<Norm>(pass.theta, z + k * pass.stride, pass.stride, scores[k], norms[k]);
  score = tree(scores);
  norm = length<Norm>(tree(norms));
}

/// Their slopes, clipped, in lattice units.
template <class L>
[[gnu::always_inline]] inline V clipped_slopes(const L loss, const Pass& pass, V score, V norm,
                                               const double* y) {
  V slope;
#pragma GCC unroll 1  // Unrolled, it would not be vectorised.
  for (size_t k = 0; k < kBlock; ++k) slope[k] = loss.slope(score[k], y[k]);
  const V zero{}, largest = spread(std::numeric_limits<double>::max());
  slope = magnitude(slope) <= largest ? slope : zero;
  const V limit = norm > zero ? pass.clip / norm : zero;
  slope = slope > limit ? limit : slope;
  slope = slope < -limit ? -limit : slope;
  return slope * pass.inverse_gamma;
}

/// The integer gradients of a block's rows in one vector of columns, each with kShift's bits on
/// top.
template <class Load>
[[gnu::always_inline]] inline Integers gradients(const V (&slope)[kBlock], const double* z,
                                                 size_t stride, const Load& load_columns) {
  const V shift = spread(kShift);
  Integers total{};
  for (size_t k = 0; k < kBlock; ++k)
    total = plus(total,
                 reinterpret_cast<Integers>(fused(slope[k], load_columns(z + k * stride), shift)));
  return total;
}

[[gnu::always_inline]] inline void add_block(const Pass& pass, const double* z, V slopes,
                                             uint64_t* sum) {
  V slope[kBlock];
  for (size_t k = 0; k < kBlock; ++k) slope[k] = spread(slopes[k]);
  size_t j = 0;
  for (; j + kWidth <= pass.stride; j += kWidth)
    add_to(sum + j, gradients(slope, z + j, pass.stride, load));
  if (j < pass.stride) add_four(sum + j, gradients(slope, z + j, pass.stride, load_four));
}

/// Loss and pass by value: the compiler then knows that no store changes them.
template <class L, class Norm>
void dense_pass(const L loss, const Pass pass, const double* z, const double* y, size_t rows,
                uint64_t* sum) {
  for (size_t i = 0; i < rows; i += kBlock) {
    const double* block = z + i * pass.stride;
    V score, norm;
    fold_block<Norm>(pass, block, score, norm);
    const V slopes = clipped_slopes(loss, pass, score, norm, y + i);
    if constexpr (kCheckRecords)
      for (size_t k = 0; k < kBlock; ++k)
        check_record<Norm>(pass, block + k * pass.stride, pass.stride, slopes[k]);
    add_block(pass, block, slopes, sum);
  }
}
