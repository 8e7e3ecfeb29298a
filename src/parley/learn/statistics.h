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

/// What rule gram steps by. `moments` are as above, of which c is left alone; the inverse of
/// `curvature` G + l2, G with eigenvalues raised to `floor`. Row-major.
std::vector<double> gram_inverse(std::span<const double> moments, size_t columns, double curvature,
                                 double l2, double floor);

}  // namespace parley::learn
