// The papers' bounds with fitted constants (spec, horizontal 4.1), for comparison only. As proved,
// their constants are useless; with a constant term, which they lack and runs need, they are forms
// that can be fitted to a few forecasts and read off elsewhere.
#pragma once

#include <span>
#include <utility>

namespace parley::forecast {

/// psi = floor + root sqrt(S) + line S, S = sum of 1/epsilon_i^2 over n^2 or anything proportional.
struct BoundFit {
  double floor = 0, root = 0, line = 0;
  double at(double s) const;
};

enum class BoundForm {
  kSmooth,   // Wu et al. (9): floor and line
  kGeneral,  // Wu et al. (11): floor and root
  kAsync     // Farokhi et al. (11): all three
};

/// (S, psi): no coefficient below zero, and the relative errors as small as that allows.
BoundFit fit_bound(std::span<const std::pair<double, double>> points, BoundForm form);

}  // namespace parley::forecast
