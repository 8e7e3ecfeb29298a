// Slopes and values of vectors of scores. Losses of few operations are written out in the precision
// of the scores; any other goes through its own functions, number by number, in double.

template <class Real>
constexpr size_t kWide = kVectorBytes / sizeof(Real);

template <class Real, class Function>
[[gnu::always_inline]] inline V<Real> each(V<Real> score, V<Real> label, const Function& function) {
  alignas(kVectorBytes) Real u[kWide<Real>], y[kWide<Real>], result[kWide<Real>];
  store(u, score), store(y, label);
#pragma GCC unroll 1  // Unrolled, it would not be vectorised.
  for (size_t k = 0; k < kWide<Real>; ++k)
    result[k] = static_cast<Real>(function(static_cast<double>(u[k]), static_cast<double>(y[k])));
  return load(result);
}

template <class Real, class L>
[[gnu::always_inline]] inline V<Real> slope_of(const L& loss, V<Real> score, V<Real> label) {
  if constexpr (std::is_same_v<L, learn::Squared>) {
    const V<Real> residual = minus(score, label);
    return plus(residual, residual);
  } else if constexpr (std::is_same_v<L, learn::Huber>) {
    const V<Real> delta = spread(static_cast<Real>(loss.delta));
    V<Real> residual = least(minus(score, label), delta);
    residual = most(residual, minus(spread(Real{0}), delta));
    return plus(residual, residual);
  } else {
    return each<Real>(score, label, [&](double u, double y) { return loss.slope(u, y); });
  }
}

/// Within +-limit; a limit of zero also silences what is not a number. Rows of the hinge loss have
/// their slope in them.
template <class Real, class L>
[[gnu::always_inline]] inline V<Real> clamped_slope(const L& loss, V<Real> score, V<Real> label,
                                                    V<Real> limit) {
  if constexpr (std::is_same_v<L, learn::Hinge>)
    return where_less(label, score, spread(Real{1}));
  else
    return most(least(slope_of<Real>(loss, score, label), limit), minus(spread(Real{0}), limit));
}

template <class Real, class L>
[[gnu::always_inline]] inline V<Real> value_of(const L& loss, V<Real> score, V<Real> label,
                                               V<Real> limit) {
  if constexpr (std::is_same_v<L, learn::Squared>) {
    const V<Real> residual = minus(score, label);
    return times(residual, residual);
  } else if constexpr (std::is_same_v<L, learn::Hinge>) {
    return times(limit, most(minus(score, label), spread(Real{0})));
  } else {
    return each<Real>(score, label, [&](double u, double y) { return loss.value(u, y); });
  }
}
