// Products of real polynomials modulo t^n + 1 by a fast Fourier transform.
//
// R[t]/(t^n + 1) is C[t]/(t^(n/2) - i), and with t = w u, w^(n/2) = i, that is C[u]/(u^(n/2) - 1):
// one complex transform of half the length, no symmetry to mend, and the order of its values does
// not matter to products. A coefficient beyond n comes back at the start with its sign changed.
//
// Rounding: in the 2-norm the error of a transform is at most `transform_error(n)` of the result
// (Higham 2002, Theorem 24.2, with our radix-4 butterflies as two levels each, and one level for
// the factors w^j).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace parley::privacy {

class Transform {
 public:
  /// n is a power of two, 16 <= n <= 2^26.
  explicit Transform(size_t n);

  /// In place: n values become n/2 real parts, then n/2 imaginary parts.
  void forward(std::vector<double>& values) const;
  void inverse(std::vector<double>& spectrum) const;

 private:
  struct Level {
    size_t length;
    std::vector<double> twiddles;  // real and imaginary parts of w^j, w^2j, w^3j; or of w^j
  };
  size_t half_;
  std::vector<double> quarter_;  // cos(2 pi k / (2 n)), k = 0 .. n/2
  std::vector<Level> levels_;

  void descend(double* re, double* im, size_t level) const;
  void ascend(double* re, double* im, size_t level) const;
  double cosine(size_t k) const;
};

/// One for each size, kept for the next use by this thread.
const Transform& transform_of(size_t n);

/// Largest relative error in the 2-norm, of one transform of n values.
double transform_error(size_t n);

}  // namespace parley::privacy
