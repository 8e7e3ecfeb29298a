// Public rows in single precision, and what a normal iterate sees of them: the mean slope and the
// mean curvature, expected over the iterate.
#pragma once

#include <Eigen/Core>

#include "parley/forecast/expect/expected_slopes.h"
#include "parley/forecast/expect/output_distribution.h"

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
  explicit Records(const Estimated& by);

  size_t size() const { return static_cast<size_t>(labels_.size()); }
  /// Over theta ~ N(mean, covariance); an empty covariance is none. The curvature only if asked.
  Derivatives derivatives(const Vector& mean, const Matrix& covariance, bool curvature) const;

 private:
  using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  /// Where all records are looked from.
  struct Seen {
    Eigen::VectorXf mean{};
    Rows spread{};  // the upper triangle of the covariance, twice beside the diagonal; or empty
    bool curvature = false;
  };
  struct Sums;

  template <class Loss>
  void add_block(const Loss& loss, Eigen::Index at, Eigen::Index count, const Seen& seen,
                 Sums& sums) const;
  Seen seen_from(const Vector& mean, const Matrix& covariance, bool curvature) const;

  learn::Losses loss_;
  Eigen::Index columns_;
  Rows z_;  // with zeros to a whole number of kTogether columns
  Floats labels_, limits_;
  int threads_;
};

}  // namespace parley::forecast
