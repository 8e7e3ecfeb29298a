// How much of a matrix is noise.
#pragma once

#include <cmath>
#include <cstddef>

namespace parley {

/// The size, in the spectral norm, of a symmetric matrix of noise: `deviation` on the diagonal,
/// this times `off` beside it (Wigner). Below it an eigenvalue says nothing.
inline double noise_floor(double deviation, double off, size_t columns) {
  return 2 * deviation * off * std::sqrt(static_cast<double>(columns));
}

}  // namespace parley
