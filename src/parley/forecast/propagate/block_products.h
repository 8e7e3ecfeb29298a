// Products of many short rows with themselves, in single precision and only as much of them as
// symmetry leaves: where the time of a propagation goes.
#pragma once

#include <cstddef>

namespace parley::forecast {

/// Rows lie `stride` floats apart, a multiple of kTogether, with zeros beyond their columns; so do
/// the rows of matrices, which have as many rows as columns.
inline constexpr size_t kTogether = 8;

struct FloatRows {
  const float* values = nullptr;
  size_t count = 0, stride = 0;
};

/// out_i = z_i' U z_i; entries of U below the diagonal are zero.
void quadratic_forms(const FloatRows& rows, const float* upper, float* out);

/// Adds sum of w_i z_i z_i' to a matrix, on the diagonal and above at least. `scratch` has room for
/// the rows.
void add_weighted_products(const FloatRows& rows, const float* weights, float* scratch, float* sum);

}  // namespace parley::forecast
