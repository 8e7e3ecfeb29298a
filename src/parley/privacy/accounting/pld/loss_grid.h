// A privacy loss distribution on a grid, never better than the true one.
//
// For distributions P and Q of what two neighbours release, the loss is ln(dP/dQ) under P, and
// delta(eps) = E_P[(1 - e^(eps - loss))+]. Losses are moved to multiples of a step so that
// delta(eps) is exact at those and a straight line in e^eps between them, which lies above the
// convex true curve ("connect the dots": Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022). For
// the losses between two neighbours e_(i-1) < e_i, of mass p under P and q under Q, that is
//
//   (p - q e^(e_(i-1))) / (1 - e^-h) to e_i, the rest of p to e_(i-1),
//
// which keeps both masses. It moves a mean by at most h^2/8: composing T times errs by O(T h^2).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "parley/base/result.h"

namespace parley::privacy {

struct LossGrid {
  double step;
  int64_t first;             // mass[i] lies at (first + i) step
  std::vector<double> mass;  // under P
  double beyond = 0;         // at infinity
  double spread = 0;         // 1 - e^-step
};

struct Masses {
  double p, q;
};

struct Interval {
  double low, high;
};

/// A single loss with its masses.
struct Atom {
  double loss, p, q;
};

/// Rounding of the losses themselves, that is of the places where bins are cut. Added to epsilon
/// once for every release.
inline double loss_rounding(const LossGrid& grid) {
  const double first = static_cast<double>(grid.first) * grid.step;
  const double last = first + static_cast<double>(grid.mass.size()) * grid.step;
  return 0x1p-48 * (1 + std::max(std::abs(first), std::abs(last)));
}

/// Adds losses in (e_(i-1), e_i]; `i` counts from the start of the grid, and is above 0.
inline void add_between(LossGrid& grid, size_t i, Masses masses) {
  const double below = static_cast<double>(grid.first + static_cast<int64_t>(i) - 1) * grid.step;
  double up = masses.p;  // Where e^loss or q leaves the range of doubles: all of it.
  if (below < 650 && (masses.q > 1e-290 || below < 0)) {
    up = (masses.p - masses.q * std::exp(below)) / grid.spread;
    up = std::clamp(up + masses.p * (0x1p-45 / grid.step), 0.0, masses.p);  // masses have errors
  }
  grid.mass[i] += up;
  grid.mass[i - 1] += masses.p - up;
}

inline LossGrid empty_grid(Interval range, double step) {
  const auto first = static_cast<int64_t>(std::floor(range.low / step)) - 1;
  const auto last = static_cast<int64_t>(std::ceil(range.high / step)) + 1;
  check(last - first < int64_t{1} << 27);
  return {step, first, std::vector<double>(static_cast<size_t>(last - first + 1)), 0,
          -std::expm1(-step)};
}

inline void add_atom(LossGrid& grid, const Atom& atom) {
  const double i = std::ceil(atom.loss / grid.step) - static_cast<double>(grid.first);
  check(i >= 1 && i < static_cast<double>(grid.mass.size()));
  add_between(grid, static_cast<size_t>(i), {atom.p, atom.q});
}

/// The losses of `pair` on a grid. `pair.range(tail)` has all but `tail` of P above and below;
/// `pair.at(loss)` is an increasing coordinate, `pair.between` gives the masses between two values
/// of it, and `pair.below`, `pair.above` those of P beyond one. Losses below the range are moved up
/// to it, those above to infinity.
template <class Pair>
LossGrid connect_dots(const Pair& pair, double step, double tail) {
  LossGrid grid = empty_grid(pair.range(tail), step);
  double before = pair.at(static_cast<double>(grid.first) * step);
  grid.mass[0] = pair.below(before);
  for (size_t i = 1; i < grid.mass.size(); ++i) {
    const double here = pair.at(static_cast<double>(grid.first + static_cast<int64_t>(i)) * step);
    if (here > before) add_between(grid, i, pair.between(before, here));
    before = here;
  }
  grid.beyond = pair.above(before);
  return grid;
}

}  // namespace parley::privacy
