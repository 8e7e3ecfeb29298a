// The distributions P and Q that dominate each kind of release, and their losses.
//
// A pair dominates a mechanism if its delta(eps) is never below that of any two neighbours; then
// compositions of pairs dominate compositions of mechanisms (Zhu, Dong, Wang 2022, Theorem 10).
//
// One dimension is enough for Gaussian and Laplace noise: with density f, the delta of a shift s is
// 1 - integral of min(f(x - s), e^eps f(x)), and the minimum is log-concave in (x, s) together, so
// its integral is log-concave in s (Prekopa 1973); delta then is quasi-convex in s, and largest at
// an extreme point of the ball of shifts: one coordinate for L1, any direction for L2.
#pragma once

#include <vector>

#include "parley/privacy/accounting/pld/loss_grid.h"

namespace parley::privacy {

/// N(mu, 1) and N(0, 1); the same in both directions.
struct GaussianPair {
  double mu;
  Interval range(double tail) const;
  double at(double loss) const { return loss / mu + mu / 2; }
  Masses between(double a, double b) const;
  double below(double x) const;
  double above(double x) const;
};

/// With q = probability and sigma over the norm of a record: the neighbour with the record is
/// P = (1-q) N(0) + q N(1), the other one Q = N(0).
struct RemovePair {
  double q, sigma;
  Interval range(double tail) const;
  double at(double loss) const;
  Masses between(double a, double b) const;
  double below(double x) const;
  double above(double x) const;
};

/// The same neighbours, the other way round; the coordinate is -x.
struct AddPair {
  double q, sigma;
  Interval range(double tail) const;
  double at(double loss) const;
  Masses between(double a, double b) const;
  double below(double x) const;
  double above(double x) const;
};

/// (1-q) N(0) + q N(1) and (1-q) N(0) + q N(-1). That it dominates replacing a record is checked on
/// grids in one dimension only, and not proven in several: for reports. The rdp accountant has a
/// proven bound.
struct ReplacePair {
  double q, sigma;
  Interval range(double tail) const;
  double at(double loss) const;
  Masses between(double a, double b) const;
  double below(double x) const;
  double above(double x) const;
};

LossGrid laplace_losses(double noise_multiplier, double step);

/// Exact for one coordinate that moves by the whole sensitivity; closed form in bins, since P and Q
/// are geometric between the two centres.
LossGrid discrete_laplace_losses(double scale, double sensitivity, double step);

/// One coordinate. Work grows with sigma, which is at most 2^20.
LossGrid discrete_gaussian_losses(double sigma, double sensitivity, double step, double tail);

/// Randomized response, and `delta` at infinity: the worst of all that is (epsilon, delta)-DP
/// (Kairouz, Oh, Viswanath 2015).
LossGrid approximate_losses(double epsilon, double delta, double step);

}  // namespace parley::privacy
