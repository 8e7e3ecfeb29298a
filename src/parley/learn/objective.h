// Clipped gradients and curvature in plain doubles, for public rows and as the reference that the
// owner's kernel is tested against.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "parley/data/rows.h"
#include "parley/learn/loss.h"

namespace parley::learn {

enum class ClipIn { kNone, kL1, kL2 };

/// The mean record gradient, each record's clipped to `limit` in the given norm (the papers' Q_i).
std::vector<double> mean_gradient(const Losses& loss, const data::Rows& rows,
                                  std::span<const double> theta, ClipIn norm, double limit);

/// The Hessian of f with clipped records: those at their limit have no curvature. Row-major p x p.
std::vector<double> clipped_hessian(const Losses& loss, const data::Rows& rows,
                                    std::span<const double> theta, ClipIn norm, double limit,
                                    double l2);

/// The same, but a loss without curvature gets that of its kink: the density of scores there, by a
/// normal kernel. What noise does to the fitness near the optimum.
std::vector<double> smoothed_hessian(const Losses& loss, const data::Rows& rows,
                                     std::span<const double> theta, ClipIn norm, double limit,
                                     double l2);

/// use(z, slope) for every record; its clipped gradient is slope z.
void each_gradient(const Losses& loss, const data::Rows& rows, std::span<const double> theta,
                   ClipIn norm, double limit,
                   const std::function<void(std::span<const double>, double)>& use);

/// The inverse of a symmetric positive definite matrix, or nothing if it is not one.
std::optional<std::vector<double>> inverse(std::span<const double> matrix, size_t dimension);

/// The inverse of a symmetric matrix whose eigenvalues below `floor`, which is above 0, were raised
/// to it first.
std::vector<double> floored_inverse(std::span<const double> matrix, size_t dimension, double floor);

/// The largest eigenvalue of a symmetric matrix without negative ones, from below, by its powers.
double largest_eigenvalue(std::span<const double> matrix, size_t dimension);

}  // namespace parley::learn
