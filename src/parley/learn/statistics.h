// From noisy second moments to a model of squared loss.
#pragma once

#include <span>
#include <vector>

namespace parley::learn {

/// The minimiser over the box of (l2/2)|theta|^2 + theta' G theta - 2 c.theta. `moments` holds the
/// upper triangle of G, row by row, and then c, as in statistics_map.h without its sqrt(2). Noise
/// may have made G indefinite: eigenvalues below `floor`, which is above 0, become it.
std::vector<double> moments_minimum(std::span<const double> moments, size_t columns, double l2,
                                    double floor, double box);

/// The size, in the spectral norm, of a symmetric matrix of noise: `deviation` on the diagonal,
/// this times `off` beside it (Wigner). Below it an eigenvalue of G says nothing.
double noise_floor(double deviation, double off, size_t columns);

}  // namespace parley::learn
