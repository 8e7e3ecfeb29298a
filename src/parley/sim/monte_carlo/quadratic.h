// The mean gradient of a quadratic: H theta - c, H twice the second moments of records.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "parley/learn/solver/moments.h"

namespace parley::sim::monte_carlo {

class Quadratic {
 public:
  explicit Quadratic(size_t columns) : hessian_(columns * columns), linear_(columns) {}

  void add(const learn::Moments& moments, double weight) {
    const size_t p = linear_.size();
    for (size_t i = 0; i < p; ++i) {
      linear_[i] += 2 * weight * moments.with_label(i);
      for (size_t j = 0; j < p; ++j) hessian_[i * p + j] += 2 * weight * moments.product(i, j);
    }
  }

  /// out = the gradient; column after column of H, which is symmetric.
  void gradient(const double* theta, double* out) const {
    const size_t p = linear_.size();
    for (size_t i = 0; i < p; ++i) out[i] = -linear_[i];
    for (size_t j = 0; j < p; ++j)
      for (size_t i = 0; i < p; ++i) out[i] = std::fma(hessian_[j * p + i], theta[j], out[i]);
  }

 private:
  std::vector<double> hessian_, linear_;
};

}  // namespace parley::sim::monte_carlo
