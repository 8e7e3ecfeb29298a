// Included by kernel.cc after dense.inl, once per instruction set: the pass over records of which
// only some features are given.

/// The features that a record has.
struct Given {
  const uint32_t* at;
  const double* values;
  size_t count;
};

[[gnu::always_inline]] inline Given given(const data::SparseRows& rows, size_t i) {
  const auto values = rows.row_values(i);
  return {rows.row_indices(i).data(), values.data(), values.size()};
}

/// A record's score and norm side by side, lane by lane (record_map.h): a feature costs one fused
/// multiply-add and one store for both. In L1 that is 1 |z| + norm, which is rounded once, too.
template <class Norm>
[[gnu::always_inline]] inline void grow(__m128d (&lanes)[data::kLanes], const double* theta,
                                        const Given& record, size_t i) {
  const uint32_t at = record.at[i];
  const __m128d twice = _mm_loaddup_pd(record.values + i);
  __m128d& lane = lanes[at % data::kLanes];
  if constexpr (std::is_same_v<Norm, L1>) {
    const __m128d second_positive = _mm_castsi128_pd(_mm_set_epi64x(INT64_MAX, -1));
    const __m128d factors = _mm_loadl_pd(_mm_set1_pd(1), theta + at);
    lane = _mm_fmadd_pd(factors, _mm_and_pd(twice, second_positive), lane);
  } else {
    lane = _mm_fmadd_pd(_mm_loadl_pd(twice, theta + at), twice, lane);
  }
}

[[gnu::always_inline]] inline __m128d tree(const __m128d (&l)[data::kLanes]) {
  return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));
}

/// Two records in turn, because a feature often waits for the one before it in the same record.
template <class Norm>
[[gnu::always_inline]] inline void fold_two(const double* theta, const Given* record, double* score,
                                            double* norm) {
  __m128d lanes[2][data::kLanes] = {};
  const size_t common = std::min(record[0].count, record[1].count);
  for (size_t i = 0; i < common; ++i) {
    grow<Norm>(lanes[0], theta, record[0], i);
    grow<Norm>(lanes[1], theta, record[1], i);
  }
  for (size_t k = 0; k < 2; ++k) {
    for (size_t i = common; i < record[k].count; ++i) grow<Norm>(lanes[k], theta, record[k], i);
    const __m128d both = tree(lanes[k]);
    score[k] = both[0], norm[k] = both[1];
  }
}

/// The record's integer gradient added to the sums.
[[gnu::always_inline]] inline void add_record(double slope, const Given& record, uint64_t* sum) {
  for (size_t i = 0; i < record.count; ++i)
    sum[record.at[i]] += std::bit_cast<uint64_t>(std::fma(slope, record.values[i], kShift)) -
                         std::bit_cast<uint64_t>(kShift);
}

template <class L, class Norm>
void sparse_pass(const L loss, const Pass pass, const data::SparseRows& rows, size_t begin, size_t end,
                 uint64_t* sum) {
  for (size_t i = begin; i < end; i += kBlock) {
    Given record[kBlock] = {};  // Beyond the end: nothing given.
    double y[kBlock] = {}, score[kBlock], norm[kBlock];
    for (size_t k = 0; k < std::min(kBlock, end - i); ++k)
      record[k] = given(rows, i + k), y[k] = rows.label(i + k);
    for (size_t k = 0; k < kBlock; k += 2)
      fold_two<Norm>(pass.theta, record + k, score + k, norm + k);
    const V slopes = clipped_slopes(loss, pass, load(score), length<Norm>(load(norm)), y);
    for (size_t k = 0; k < kBlock; ++k) {
      if constexpr (kCheckRecords)
        check_record<Norm>(pass, record[k].values, record[k].count, slopes[k]);
      add_record(slopes[k], record[k], sum);
    }
  }
}
