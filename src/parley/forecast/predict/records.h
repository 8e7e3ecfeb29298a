// Public rows in single precision, and what a normal iterate sees of them: the mean slope and the
// mean curvature, expected over the iterate.
#pragma once

#include <Eigen/Core>

#include "parley/forecast/predict/expected_slopes.h"
#include "parley/forecast/predict/landing.h"

namespace parley::forecast {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

/// Means over the records of slope z and of curvature z z'.
struct Derivatives {
  Vector slope{};
  Matrix curvature{};
};

class Records {
 public:
  explicit Records(const Judged& by);

  size_t size() const { return static_cast<size_t>(labels_.size()); }
  /// Over theta ~ N(mean, covariance); an empty covariance is none. The curvature only if asked.
  Derivatives derivatives(const Vector& mean, const Matrix& covariance, bool curvature) const;

 private:
  using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  template <class Loss>
  void add_block(const Loss& loss, Eigen::Index at, Eigen::Index count, const Eigen::VectorXf& mean,
                 const Rows& covariance, Derivatives& sum) const;

  learn::Losses loss_;
  Rows z_;
  Floats labels_, limits_;
  int threads_;
};

}  // namespace parley::forecast
