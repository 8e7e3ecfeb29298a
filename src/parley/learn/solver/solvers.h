// The solvers for reference optima. Each returns a proven bound of its gap.
#pragma once

#include "parley/learn/loss.h"
#include "parley/learn/solver/moments.h"
#include "parley/learn/solver/newton.h"
#include "parley/learn/solver/optimum.h"

namespace parley::learn {

/// The mean loss at scores Z theta.
double mean_loss(const Design& design, const Losses& loss, std::span<const double> scores);

/// Squared loss, from second moments: the normal equations, and an active set where the box cuts.
/// Certified by the first-order gap over the box.
Optimum squared_optimum(const Moments& moments, double l2, double box);

/// A loss with curvature, by Newton's method; certified by the first-order gap over the box.
Optimum smooth_optimum(const Problem& problem, const Losses& loss);

/// A loss with curvature and l1 times the sum of the sizes beside l2, by Newton's method whose
/// quadratics are solved coordinate by coordinate; certified by the first-order gap over the box.
Optimum lasso_optimum(const Problem& problem, const Losses& loss, double l1);

/// The hinge loss, by the proximal method of multipliers on the dual, whose inner problems are
/// smooth; certified by the duality gap.
Optimum hinge_optimum(const Problem& problem, const Hinge& loss);

}  // namespace parley::learn
