// Chi-square numbers, for draws and for thresholds.
#pragma once

#include <array>
#include <cstddef>

#include "parley/base/math/seeded_random.h"

namespace parley {

/// The quantile of chi-square with `freedom` degrees at the probability whose normal quantile is
/// `normal`, by the cube of Wilson and Hilferty (1931): k (1 - 2/(9k) + z sqrt(2/(9k)))^3. Within
/// 0.5 % of it for k >= 4 and probabilities up to 0.999; never below 0.
double wilson_hilferty(double freedom, double normal);

/// A draw of chi-square over its degrees of freedom, with mean 1: sums of squares up to three
/// degrees, the cube above for more.
double chi_square_share(SeededRandom& random, size_t freedom);

/// chi-square_3 / 3 at the middles of so many parts of equal probability: an expectation over it is
/// their mean (theory (W6)).
inline constexpr size_t kChiSquareNodes = 60;
const std::array<double, kChiSquareNodes>& chi_square_3_nodes();

}  // namespace parley
