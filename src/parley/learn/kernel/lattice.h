// The public lattice on which gradients are rounded, and why a record cannot exceed its bound
// there.
//
// Spacing gamma = 2^(ceil(log2 clip) - grid_bits). A record's gradient g = s z is first clipped to
// the shorter norm
//     clip' = (clip - p gamma/2)(1 - 2^-40) in L1,    (clip - sqrt(p) gamma/2)(1 - 2^-40) in L2,
// then each coordinate is rounded to the nearest multiple, q_j = round(g_j / gamma).
//
// Claim. sum |q_j| <= floor(clip/gamma) in L1, ||q||_2 <= clip/gamma in L2, exactly, for every
// finite record and p <= 4096.
// Proof. Dividing by gamma is exact (a power of two), so |q_j - g_j/gamma| <= 1/2 and
// sum |q_j| <= sum |g_j|/gamma + p/2, ||q||_2 <= ||g||_2/gamma + sqrt(p)/2. It remains to bound the
// g_j as computed, u = 2^-53. p gamma/2 is exact, clip' carries two roundings, the slope's limit
// clip'/||z|| one, g_j one (a product that underflows has q_j = 0 and keeps its bound), and the
// computed ||z||_1 is at least ||z||_1 (1-u)^(p-1), in any order of summation. Hence
//     sum |g_j| <= (clip - p gamma/2)(1 - 2^-40)(1+u)^4 (1-u)^-(p-1) <= clip - p gamma/2,
// because (p+3) u <= 4099 2^-53 < 2^-40, with room for second-order terms. In L2 squares and sum
// lose (1-u)^p, the root halves that and adds one rounding, sqrt(p) one more: (p/2+8) u < 2^-41; no
// square underflows because |z_j| is 0 or at least 2^-500 (rows.h). The left side of the L1 claim
// is an integer, hence the floor. (Fused multiply-adds round once where two are counted.) End of
// proof.
#pragma once

#include <cmath>
#include <cstddef>
#include <type_traits>

#include "parley/base/math/norm.h"
#include "parley/base/result.h"
#include "parley/data/rows.h"

namespace parley::learn {

class Lattice {
 public:
  static Result<Lattice> make(double max_grad_norm, int grid_bits, size_t dimension) {
    if (!(max_grad_norm >= 1e-30 && max_grad_norm <= 1e30))
      return Error{Code::kInvalid, "max_grad_norm must lie between 1e-30 and 1e30"};
    if (grid_bits < 16 || grid_bits > 32)  // p gamma/2 stays below clip/8, and q below 2^32.
      return Error{Code::kInvalid, "grid_bits must lie between 16 and 32"};
    if (dimension < 1 || dimension > data::kColumnsMax)
      return Error{Code::kInvalid, "the number of features must lie between 1 and 4096"};
    int exponent = 0;
    const double mantissa = std::frexp(max_grad_norm, &exponent);  // In [1/2, 1).
    const int ceil_log2 = mantissa == 0.5 ? exponent - 1 : exponent;
    return Lattice(max_grad_norm, std::ldexp(1.0, ceil_log2 - grid_bits), dimension);
  }

  double max_grad_norm() const { return clip_; }
  double gamma() const { return gamma_; }
  size_t dimension() const { return dimension_; }

  /// clip', to which a record's gradient is shortened before rounding.
  template <class Norm>
  double shortened() const {
    const double p = static_cast<double>(dimension_);
    const double rounding = (std::is_same_v<Norm, L1> ? p : std::sqrt(p)) * gamma_ / 2;
    return (clip_ - rounding) * (1 - 0x1p-40);
  }

  /// The largest norm of one record's integer gradient.
  template <class Norm>
  double bound() const {
    return std::is_same_v<Norm, L1> ? std::floor(clip_ / gamma_) : clip_ / gamma_;
  }

 private:
  Lattice(double clip, double gamma, size_t dimension)
      : clip_(clip), gamma_(gamma), dimension_(dimension) {}
  double clip_;
  double gamma_;
  size_t dimension_;
};

}  // namespace parley::learn
