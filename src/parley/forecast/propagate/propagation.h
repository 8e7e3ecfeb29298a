// Gaussian moment propagation: mean and covariance of a schedule's output for any loss, clip and
// box. The iterate is taken to be normal; each round's slope and curvature are expectations over
// it, record by record of the public rows, and the box clamps every coordinate.
//
// Slope and curvature change slowly once the iterate has settled: after the first rounds they are
// computed in rounds further and further apart, and extrapolated between them. The hinge loss,
// whose kink few records are near at a time, needs them in every round.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "parley/base/math/eigen_names.h"
#include "parley/forecast/propagate/expected_loss.h"
#include "parley/learn/schedule/schedule.h"

namespace parley::forecast {

// Products of many short rows with themselves, in single precision; only the upper triangle. A
// propagation spends its time here.

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

using Matrix = RowMatrix;
using Vector = ColumnVector;

/// Public rows in single precision: the mean of their slopes and of their curvatures, expected over
/// a normal iterate.
class Records {
 public:
  explicit Records(const EstimatedOn& by);
  ~Records();

  /// The mean over the records of slope z, for theta ~ N(mean, covariance); an empty covariance is
  /// none. The mean of curvature z z' as well, unless its place is null.
  Vector slope(const Vector& mean, const Matrix& covariance, Matrix* curvature) const;

 private:
  class Blocks;
  std::unique_ptr<const Blocks> blocks_;
};

struct Propagation {
  const data::Rows& rows;
  learn::Losses loss{};
  double l2 = 0;
  double box = 0;
  learn::ClipIn norm = learn::ClipIn::kNone;
  double limit = 0;                           // of a record's gradient
  std::span<const double> variance_factor{};  // times the variance, round by round; empty: 1 in all
  std::vector<double> start_spread{};  // covariance of the start, where it is random; or empty
  size_t looked_at = 0;                // about so many rows are used; 0: all
  int threads = 1;

  /// Every stride-th row, to estimate a model's loss.
  EstimatedOn estimated(size_t stride = 1) const {
    return {rows, loss, l2, norm, limit, stride, threads};
  }
};

struct Propagated {
  OutputDistribution output{};
  double smallest_gain = 1;  // of clamping to the box; below 0.9 the normal approximation fails
};

/// Propagates any number of schedules and variances on the same rows.
class Propagator {
 public:
  explicit Propagator(const Propagation& how);

  /// `variance` is that of the noise on one coordinate of the owners' weighted mean gradient.
  Propagated run(const learn::Schedule& schedule, double variance) const;
  /// E f of the output on the rows used, which have an optimum of their own.
  double fitness(const Propagated& found) const;

 private:
  const Propagation& how_;
  size_t stride_;
  Records records_;
};

}  // namespace parley::forecast
