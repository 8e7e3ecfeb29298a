// Decompositions and products of dense matrices, row after row, with the same bits on every
// machine: each sum is made in an order that is written here. Eigen's order follows the width of
// the processor's vectors and the size of its caches. What a replay computes again, or several
// parties must agree on, uses these (tests/tidy.py sees to that).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace parley::learn {

double dot(std::span<const double> a, std::span<const double> b);
/// The length of v.
double length_of(std::span<const double> v);
/// matrix v, for a matrix with as many columns as v has numbers.
std::vector<double> times(std::span<const double> matrix, std::span<const double> v);
/// left right, where `left` has `inner` columns and `right` as many rows.
std::vector<double> product(std::span<const double> left, std::span<const double> right,
                            size_t inner);

/// U with U'U = a symmetric positive definite matrix.
class Cholesky {
 public:
  /// Nothing if the matrix is not positive definite. What lies below its diagonal is not read.
  static std::optional<Cholesky> of(std::span<const double> matrix, size_t dimension);

  /// The x for which matrix x is `right`.
  std::vector<double> solve(std::span<const double> right) const;
  std::vector<double> inverse() const;

 private:
  explicit Cholesky(size_t dimension) : p_(dimension), upper_(dimension * dimension) {}

  size_t p_;
  std::vector<double> upper_;  // zeros below the diagonal
};

/// Eigenvalues of a symmetric matrix in ascending order, and orthonormal eigenvectors: that of
/// values[k] is row k.
struct Spectrum {
  std::vector<double> values{}, vectors{};
};
/// What lies below the diagonal is not read.
Spectrum spectrum(std::span<const double> matrix, size_t dimension);
std::vector<double> eigenvalues(std::span<const double> matrix, size_t dimension);

/// The sum of values[k] v_k v_k', v_k row k of `vectors`. Exactly symmetric.
std::vector<double> sum_of_squares(std::span<const double> values, std::span<const double> vectors);

}  // namespace parley::learn
