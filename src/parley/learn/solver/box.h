// Minimisation over the box |theta_j| <= box.
#pragma once

#include <span>
#include <vector>

namespace parley::learn {

/// How far f(theta) can lie above the minimum over the box, for a convex f with this gradient at
/// theta and f - (l2/2)|.|^2 convex: f(x) >= f(theta) + g.(x - theta) + (l2/2)|x - theta|^2, whose
/// right side is smallest coordinate by coordinate.
double first_order_gap(std::span<const double> theta, std::span<const double> gradient, double l2,
                       double box);

/// The d that minimises g.d + d'Hd/2 with theta + d inside the box. H is row-major and positive
/// semidefinite; `ridge` is added to its diagonal, and must make it positive definite.
std::vector<double> newton_step(std::span<const double> theta, std::span<const double> gradient,
                                std::span<const double> hessian, double ridge, double box);

/// A ridge that rounding cannot see, for a matrix that may be singular.
double smallest_ridge(std::span<const double> hessian, size_t dimension);

}  // namespace parley::learn
