// The joint distribution of iterate, average and, with momentum, velocity, taken to be normal.
#pragma once

#include "parley/forecast/expect/records.h"
#include "parley/learn/schedule/schedule.h"

namespace parley::forecast {

class Iterate {
 public:
  /// `spread` is the start's covariance, p x p, or empty.
  Iterate(const learn::Schedule& schedule, double l2, double box, const Matrix& spread);

  /// Round k, with the derivatives at theta() and noise of `variance` on the gradient.
  void round(size_t k, const Derivatives& at, double variance);

  Vector theta() const { return mean_.head(p_); }
  /// Empty as long as nothing is random.
  Matrix covariance() const { return random_ ? Matrix(joint_.topLeftCorner(p_, p_)) : Matrix(); }
  OutputDistribution output() const;
  double smallest_gain() const { return smallest_gain_; }

 private:
  void move(double step, const Derivatives& at);
  void spread(double step, const Matrix& curvature, double variance);
  void spread_with_velocity(double step, const Matrix& curvature, double variance);
  void clamp();
  void average(double part);

  const learn::Schedule& schedule_;
  double l2_, box_;
  Eigen::Index p_, size_;  // of the iterate, of all
  Vector mean_;
  Matrix joint_, preconditioner_;  // the latter empty: the identity
  bool random_;
  double smallest_gain_ = 1;
};

}  // namespace parley::forecast
