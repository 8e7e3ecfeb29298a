// Standardise, rotate to principal components and whiten, all fitted on public rows. Own plain
// arithmetic instead of a library's, so that files made with it are the same on every machine.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "parley/base/result.h"

namespace parley::sim {

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

}  // namespace parley::sim
