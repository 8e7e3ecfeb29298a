// Public rows in single precision, and what a normal iterate sees of them: the mean slope and the
// mean curvature, expected over the iterate.
#pragma once

#include <cstddef>
#include <memory>

#include "parley/base/math/eigen_names.h"
#include "parley/forecast/expect/output_distribution.h"

namespace parley::forecast {

using Matrix = RowMatrix;
using Vector = ColumnVector;

class Records {
 public:
  explicit Records(const Estimated& by);
  ~Records();

  /// The mean over the records of slope z, for theta ~ N(mean, covariance); an empty covariance is
  /// none. The mean of curvature z z' as well, unless its place is null.
  Vector slope(const Vector& mean, const Matrix& covariance, Matrix* curvature) const;

 private:
  class Blocks;
  std::unique_ptr<const Blocks> blocks_;
};

}  // namespace parley::forecast
