// The distance of an owner's rows from a model: the norm of their mean gradient at the model, times
// a weight v, as integers in units of the lattice,
//     q = round(v |S| / n),   S the sum of the records' clipped lattice gradients, n their number.
// With records and model in the metric of a Hessian (whitened.h) |S| / n is the r of theory
// (W6). Where the model has an intercept, whose coordinate is then the first, S is divided into
// that and the rest, and q is a pair of norms: (rest, intercept). A change of the intercept shifts
// all scores of an owner alike, and does not change the AUC within the owner.
//
// Claim. With B the lattice's bound of a record's gradient and v <= n, replacing u records moves q,
// as a vector, by at most
//     2 u B v / n + (p + 16) 2^-53 v B + 2.
// Proof. The lengths of two orthogonal parts are 1-Lipschitz as a pair:
//     (|x| - |y|)^2 + (|x'| - |y'|)^2 <= |x - y|^2 + |x' - y'|^2,
// so it moves by no more than S does, and each of the u records moves S by at most 2 B, exactly
// (kernel/lattice.h): no factor p, and two lengths cost what one does. As computed, an entry of S
// as a double is off by a part of 2^-53, its square by three, their sum by p - 1 more, the root
// halves that and adds one, and two products with it add two: less than (p/2 + 8) 2^-53 of either
// length, and so of v |S| / n <= v B, in either world. Rounding moves each of the two by 1/2 in
// either world, the pair by at most sqrt(2). End of proof.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "parley/learn/kernel/lattice.h"

namespace parley::learn {

struct GradientNorm {
  Lattice lattice;
  uint64_t rows = 1;
  double weight = 1;       // v, at most the rows
  bool intercept = false;  // the first coordinate

  /// Of the sum of all records' gradients: the length of all but the intercept, and that of the
  /// intercept, 0 without one.
  std::array<int64_t, 2> of(std::span<const int64_t> sum) const {
    return {rounded(sum.subspan(intercept)), rounded(sum.first(intercept))};
  }

  /// How far other values in so many records move it.
  double sensitivity(uint32_t records) const {
    const double exact = 2 * records * lattice.bound<L2>() * (weight / static_cast<double>(rows));
    const double dimension = static_cast<double>(lattice.dimension());
    const double computed = (dimension + 16) * 0x1p-53 * weight * lattice.bound<L2>();
    return std::ceil((exact + computed + 2) * (1 + 0x1p-50));
  }
  /// No length is larger.
  double largest() const { return weight * lattice.bound<L2>() + 1; }

 private:
  int64_t rounded(std::span<const int64_t> part) const {
    double squares = 0;
    for (const int64_t value : part)
      squares += static_cast<double>(value) * static_cast<double>(value);
    return std::llround(std::sqrt(squares) * (weight / static_cast<double>(rows)));
  }
};

}  // namespace parley::learn
