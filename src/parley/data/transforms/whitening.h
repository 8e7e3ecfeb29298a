// Standardises, rotates to principal components and whitens by one matrix, fitted on public rows:
// the features of the generated data `lending`. Charters use a Bundle, which keeps these steps
// apart.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "parley/base/result.h"

namespace parley::data {

/// A standardised direction that varies less is not whitened: it would be noise, blown up.
inline constexpr double kSmallestVariance = 1e-6;

inline Error too_few_directions() {
  return {Code::kInvalid, "the pilot rows vary in fewer directions than there are components",
          "Use more pilot rows or fewer components."};
}

class Whitening {
 public:
  /// `rows` lie one after the other, `columns` numbers each. Keeps the components of largest
  /// variance, each with its largest entry positive; afterwards the sample covariance of `rows` is
  /// the identity. An error if the rows do not vary in as many directions.
  static Result<Whitening> fit(std::span<const double> rows, size_t columns, size_t components);

  /// row has `columns` numbers, z `components`.
  void apply(std::span<const double> row, std::span<double> z) const;

 private:
  Whitening() = default;
  std::vector<double> mean_{};
  std::vector<double> matrix_{};  // one component after the other
};

}  // namespace parley::data
