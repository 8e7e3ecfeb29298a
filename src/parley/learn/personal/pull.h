// A quadratic penalty that pulls an owner's model towards a given one: (nu/2) (theta - s)' M (theta
// - s).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "parley/base/result.h"

namespace parley::learn {

/// One metric M with every centre s and every strength nu that are tried with it.
struct Pull {
  std::vector<double> metric{};                // M, row by row, p x p, positive definite
  std::vector<std::vector<double>> centres{};  // s
  std::vector<double> strengths{};             // nu, from the largest down
};

/// 10^(highest/2), ..., 10^(lowest/2): half decades from the largest down.
std::vector<double> half_decades(int lowest, int highest);

/// I, but with `bias_weight` for the bias column: an owner's base rate is its own sooner than the
/// effect of a feature.
std::vector<double> identity_metric(size_t columns, std::optional<size_t> bias, double bias_weight);

/// The Hessian as a metric: symmetric, and made positive definite where it is singular to rounding,
/// by 1e-9 of its mean diagonal. An error if it is not finite, not symmetric, or has a negative
/// eigenvalue. `columns` is its own dimension.
Result<std::vector<double>> hessian_metric(std::span<const double> hessian, size_t columns);

// An owner may have columns that the charter lacks. They come after the charter's.

/// A model of the charter's columns as one of `columns`: the owner's own ones do not count.
std::vector<double> with_own_columns(std::span<const double> theta, size_t columns);

/// M on the charter's block, its mean diagonal times I on the block of the owner's own columns.
std::vector<double> metric_with_own_columns(std::span<const double> metric, size_t charter_columns,
                                            size_t columns);

}  // namespace parley::learn
